/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine: kernel, hypervisor, and which versions of the storage tools are installed. Nothing is executed for it. */
#include <sys/utsname.h>
#include <unistd.h>

#include "stack/live.h"

static int set_text(struct live *live, struct blkalign_node *host, enum blkalign_attr attr, const char *path)
{
	_cleanup_free_ char *text = NULL;
	int r = live_text(&live->root, path, &text);

	if (r != 0)
		return r == -ENOMEM ? r : 0;
	return graph_set_str(host, attr, text, BLKALIGN_ORIGIN_SYSTEM);
}

/* --- hypervisor --- */

static const struct {
	const char *file, *begins, *hypervisor;
} dmi[] = {
	{ "sys/class/dmi/id/sys_vendor", "QEMU", "kvm" },
	{ "sys/class/dmi/id/product_name", "KVM", "kvm" },
	{ "sys/class/dmi/id/sys_vendor", "Amazon EC2", "kvm" },
	{ "sys/class/dmi/id/sys_vendor", "Google", "kvm" },
	{ "sys/class/dmi/id/sys_vendor", "VMware", "vmware" },
	{ "sys/class/dmi/id/sys_vendor", "Microsoft Corporation", "hyperv" },
	{ "sys/class/dmi/id/sys_vendor", "Xen", "xen" },
	{ "sys/class/dmi/id/sys_vendor", "innotek GmbH", "virtualbox" },
	{ "sys/class/dmi/id/product_name", "VirtualBox", "virtualbox" },
	{ "sys/class/dmi/id/sys_vendor", "Parallels", "parallels" },
};

static const char *from_dmi(struct live *live)
{
	for (size_t i = 0; i < ARRAY_SIZE(dmi); i++) {
		_cleanup_free_ char *text = NULL;

		if (live_text(&live->root, dmi[i].file, &text) == 0 && !strncmp(text, dmi[i].begins, strlen(dmi[i].begins)))
			return dmi[i].hypervisor;
	}
	return NULL;
}

enum guest { GUEST_UNKNOWN, GUEST_NO, GUEST_YES };

/* x86 tells guests by CPUID 1:ECX[31], which /proc/cpuinfo shows as a flag; other machines have no such line. */
static enum guest from_cpuinfo(struct live *live)
{
	_cleanup_free_ char *text = NULL;
	char *flags, *end;

	if (live_text(&live->root, "proc/cpuinfo", &text) != 0)
		return GUEST_UNKNOWN;
	flags = strstr(text, "\nflags");
	if (!flags)
		return GUEST_UNKNOWN;
	end = strchr(flags + 1, '\n');
	if (end)
		*end = '\0';
	return strstr(flags, " hypervisor") ? GUEST_YES : GUEST_NO;
}

/* Xen's first domain sees a hypervisor and owns the hardware all the same. */
static bool is_xen_control_domain(struct live *live)
{
	_cleanup_free_ char *text = NULL;

	return live_text(&live->root, "proc/xen/capabilities", &text) == 0 && strstr(text, "control_d");
}

/* A maker's name alone proves nothing: Microsoft and Amazon sell bare metal too. */
static int set_hypervisor(struct live *live, struct blkalign_node *host)
{
	_cleanup_free_ char *type = NULL;
	enum guest guest = from_cpuinfo(live);
	const char *name = NULL;

	if (live_text(&live->root, "sys/hypervisor/type", &type) == 0)
		name = is_xen_control_domain(live) ? "none" : type;
	else if (guest == GUEST_NO)
		name = "none";
	else
		name = from_dmi(live);
	if (!name && guest == GUEST_YES)
		name = "other";
	return name ? graph_set_str(host, BLKALIGN_ATTR_HYPERVISOR, name, BLKALIGN_ORIGIN_SYSTEM) : 0;
}

/* --- installed tools --- */

static const struct {
	enum blkalign_attr attr;
	const char *package; /* Debian's */
} tools[] = {
	{ BLKALIGN_ATTR_TOOL_LVM2, "lvm2" },	 { BLKALIGN_ATTR_TOOL_UTIL_LINUX, "util-linux" },
	{ BLKALIGN_ATTR_TOOL_MDADM, "mdadm" },	 { BLKALIGN_ATTR_TOOL_CRYPTSETUP, "cryptsetup-bin" },
	{ BLKALIGN_ATTR_TOOL_PARTED, "parted" },
};

/* "2:2.6.1-4~deb12u2" is 2.6.1: the epoch and Debian's revision are no part of the tool's version (deb-version(7)). */
static void upstream_version(char *version)
{
	char *colon = strchr(version, ':'), *hyphen = strrchr(version, '-');

	if (hyphen)
		*hyphen = '\0';
	if (colon)
		memmove(version, colon + 1, strlen(colon + 1) + 1);
}

/* The value of a field in one stanza of the status file. */
static char *field(const char *stanza, size_t length, const char *name)
{
	const char *at = memmem(stanza, length, name, strlen(name));
	const char *end;

	if (!at)
		return NULL;
	at += strlen(name);
	end = memchr(at, '\n', length - (size_t)(at - stanza));
	return strndup(at, end ? (size_t)(end - at) : length - (size_t)(at - stanza));
}

static int set_tool(struct blkalign_node *host, const char *status, enum blkalign_attr attr, const char *package)
{
	_cleanup_free_ char *start = NULL, *state = NULL, *version = NULL;
	const char *stanza, *end;
	size_t length;

	if (asprintf(&start, "\nPackage: %s\n", package) < 0)
		return -ENOMEM;
	stanza = strstr(status, start);
	if (!stanza)
		return 0;
	end = strstr(stanza, "\n\n");
	length = end ? (size_t)(end - stanza) : strlen(stanza);
	state = field(stanza, length, "\nStatus: ");
	version = field(stanza, length, "\nVersion: ");
	if (!state || !version || !strstr(state, " installed"))
		return 0;
	upstream_version(version);
	return graph_set_str(host, attr, version, BLKALIGN_ORIGIN_SYSTEM);
}

static int set_tools(struct live *live, struct blkalign_node *host)
{
	_cleanup_free_ char *text = NULL, *status = NULL;
	int r = live_text(&live->root, "var/lib/dpkg/status", &text);

	if (r != 0)
		return r == -ENOMEM ? r : 0;
	if (asprintf(&status, "\n%s", text) < 0)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tools); i++)
		r = set_tool(host, status, tools[i].attr, tools[i].package);
	return r;
}

/* --- all --- */

static int set_own(struct blkalign_node *host)
{
	struct utsname names;
	long page = sysconf(_SC_PAGESIZE);
	int r = 0;

	if (uname(&names) == 0)
		r = graph_set_str(host, BLKALIGN_ATTR_ARCH, names.machine, BLKALIGN_ORIGIN_SYSTEM);
	if (r == 0 && page > 0)
		r = graph_set_u64(host, BLKALIGN_ATTR_PAGE, (uint64_t)page, BLKALIGN_ORIGIN_SYSTEM);
	return r;
}

static int set_secret(struct live *live)
{
	_cleanup_free_ char *id = NULL;
	int r = live_text(&live->root, "etc/machine-id", &id);

	return r == 0 ? graph_set_secret(live->graph, id) : r == -ENOMEM ? r : 0;
}

int live_host(struct live *live)
{
	struct blkalign_node *host;
	int r = graph_host(live->graph, &host);

	if (r == 0)
		r = set_text(live, host, BLKALIGN_ATTR_KERNEL, "proc/sys/kernel/osrelease");
	if (r == 0)
		r = set_text(live, host, BLKALIGN_ATTR_ARCH, "proc/sys/kernel/arch");
	if (r == 0 && !live->root.foreign)
		r = set_own(host);
	if (r == 0)
		r = set_text(live, host, BLKALIGN_ATTR_HOST_NAME, "etc/hostname");
	if (r == 0)
		r = set_text(live, host, BLKALIGN_ATTR_HOST_NAME, "proc/sys/kernel/hostname");
	if (r == 0)
		r = set_hypervisor(live, host);
	if (r == 0)
		r = set_secret(live);
	return r == 0 ? set_tools(live, host) : r;
}
