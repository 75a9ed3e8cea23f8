/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions to the device itself: READ CAPACITY(16) and INQUIRY of SCSI disks, IDENTIFY of NVMe namespaces. All of them read, on an fd that was
 * opened O_RDONLY.
 */
#include <assert.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libnvme.h>
#include <scsi/sg_cmds_basic.h>
#include <unistd.h>

#include "stack/live.h"
#include "topo/topo.h"

#define CAPACITY16_BYTES 32
#define PAGE_BYTES	 1024 /* page 89 takes 572 */
#define INQUIRY_SECONDS	 10
#define PAGE_SUPPORTED	 0x00

/* One page; its length, or 0 when the device does not have it. */
static size_t inquire(int fd, uint8_t code, uint8_t bytes[PAGE_BYTES])
{
	int left = 0;

	if (sg_ll_inquiry_v2(fd, true, code, bytes, PAGE_BYTES, INQUIRY_SECONDS, &left, false, 0) != 0 || bytes[1] != code)
		return 0;
	return left > 0 && left <= PAGE_BYTES ? PAGE_BYTES - (size_t)left : PAGE_BYTES;
}

static int ask_page(struct live *live, struct live_dev *dev, int fd, uint8_t code)
{
	uint8_t bytes[PAGE_BYTES] = { 0 };
	size_t length = inquire(fd, code, bytes);

	return length ? live_take_page(live, dev, code, bytes, length) : 0;
}

/* Only pages that the device lists are asked for: some answer others with nonsense. */
static int ask_pages(struct live *live, struct live_dev *dev, int fd)
{
	uint8_t list[PAGE_BYTES] = { 0 };
	size_t length = inquire(fd, PAGE_SUPPORTED, list), listed = load_be16(list + 2);
	int r = 0;

	for (size_t i = 0; r == 0 && i < listed && 4 + i < length; i++)
		r = ask_page(live, dev, fd, list[4 + i]);
	return r;
}

static int ask_capacity(struct live *live, struct live_dev *dev, int fd)
{
	uint8_t bytes[CAPACITY16_BYTES] = { 0 };

	if (sg_ll_readcap_16(fd, false, 0, bytes, sizeof(bytes), false, 0) != 0)
		return 0;
	return live_take_capacity16(live, dev, bytes, sizeof(bytes));
}

/* Bridges that hang on an INQUIRY for a page are why the kernel asks USB disks for none: neither do we. */
static int ask_scsi(struct live *live, struct live_dev *dev, int fd)
{
	const char *transport = blkalign_node_str(dev->node, BLKALIGN_ATTR_TRANSPORT);
	bool usb = transport && !strcmp(transport, "usb");
	int r = ask_capacity(live, dev, fd);

	return r == 0 && !dev->has_pages && !usb ? ask_pages(live, dev, fd) : r;
}

static int ask_nvme(struct live *live, struct live_dev *dev, int fd)
{
	_cleanup_free_ struct nvme_id_ctrl *ctrl = calloc(1, sizeof(*ctrl));
	_cleanup_free_ struct nvme_id_ns *ns = calloc(1, sizeof(*ns));
	uint32_t nsid;

	if (!ctrl || !ns)
		return -ENOMEM;
	if (nvme_get_nsid(fd, &nsid) != 0 || nvme_identify_ctrl(fd, ctrl) != 0 || nvme_identify_ns(fd, nsid, ns) != 0)
		return 0;
	return live_take_nvme(live, dev, ctrl, ns);
}

static_assert(sizeof(struct nvme_id_ctrl) == TOPO_NVME_IDENTIFY_BYTES, "the whole of IDENTIFY is handed on");
static_assert(sizeof(struct nvme_id_ns) == TOPO_NVME_IDENTIFY_BYTES, "the whole of IDENTIFY is handed on");

int live_ask(struct live *live, struct live_dev *dev, const char *path)
{
	bool scsi = !fnmatch("sd[a-z]*", dev->name, 0), nvme = !fnmatch("nvme[0-9]*n[0-9]*", dev->name, 0);
	int fd, r;

	if (dev->partition || (!scsi && !nvme))
		return 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0; /* the caller opens it as well, and tells */
	r = scsi ? ask_scsi(live, dev, fd) : ask_nvme(live, dev, fd);
	close(fd);
	return r;
}
