/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bridges: lsusb and the kernel's lines about USB storage. They name no disk, so they are believed only where the text knows one bridge and one disk that can
 * be behind it.
 */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "snap/import_priv.h"

static const char *const storage_words[] = { "SATA",	 "ATA/", "JMicron", "ASMedia", "Storage",   "Portable",
					     "Passport", "Disk", "Drive",   "SSD",     "Expansion", "Elements" };

static bool is_id(const char *p)
{
	for (size_t i = 0; i < 9; i++)
		if (i == 4 ? p[i] != ':' : !isxdigit((unsigned char)p[i]))
			return false;
	return !isxdigit((unsigned char)p[9]);
}

static void note(struct import *in, const char *id, const char *driver)
{
	if (id) {
		in->usb_ids += strncasecmp(in->usb_id, id, 9) != 0;
		snprintf(in->usb_id, sizeof(in->usb_id), "%.9s", id);
		in->facts++;
	}
	if (driver) {
		snprintf(in->usb_driver, sizeof(in->usb_driver), "%s", driver);
		in->facts++;
	}
}

static bool line(struct import *in, const char *line, bool going_on)
{
	const char *id = import_after(line, ": ID "), *vendor = import_after(line, "idVendor="),
		   *product = import_after(line, "idProduct=");
	char text[10];

	(void)going_on;
	if (id && import_starts(line, "Bus ") && is_id(id)) {
		for (size_t i = 0; i < ARRAY_SIZE(storage_words); i++)
			if (strcasestr(id, storage_words[i])) {
				note(in, id, NULL);
				break;
			}
		return true;
	}
	if (strstr(line, "scsi host") && strstr(line, ": uas")) {
		note(in, in->usb_seen[0] ? in->usb_seen : NULL, "uas");
		return true;
	}
	if (strstr(line, "USB Mass Storage device detected")) {
		note(in, in->usb_seen[0] ? in->usb_seen : NULL, "usb-storage");
		return true;
	}
	if (!vendor || !product)
		return false;
	snprintf(text, sizeof(text), "%.4s:%.4s", vendor, product);
	if (is_id(text))
		snprintf(in->usb_seen, sizeof(in->usb_seen), "%s", text);
	return true;
}

const struct import_reader import_reader_usb = { "usb", line };
