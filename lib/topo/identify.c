/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/identify.h"

void topo_text_trimmed(char *ret, size_t size, const uint8_t *bytes, size_t length)
{
	length = strnlen((const char *)bytes, length);
	while (length && bytes[0] == ' ') {
		bytes++;
		length--;
	}
	while (length && bytes[length - 1] == ' ')
		length--;
	if (length >= size)
		length = size - 1;
	memcpy(ret, bytes, length);
	ret[length] = 0;
}

static bool all_zero(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i])
			return false;
	return true;
}

/* --- ATA --- */

static uint16_t word(const uint8_t *bytes, unsigned number) { return load_le16(bytes + (size_t)number * 2); }
static bool word_valid(uint16_t value) { return (value & 0xc000) == 0x4000; }

/* ATA text is stored with the two bytes of each word swapped. */
static void ata_text(char *ret, size_t size, const uint8_t *bytes, size_t first, size_t last)
{
	uint8_t text[40];
	size_t n = 0;

	for (size_t i = first; i <= last; i++) {
		text[n++] = bytes[i * 2 + 1];
		text[n++] = bytes[i * 2];
	}
	topo_text_trimmed(ret, size, text, n);
}

/* Word 255: signature A5h and a checksum that makes the sum of all bytes 0. Old drives have neither. */
static bool checksum_wrong(const uint8_t *bytes)
{
	uint8_t sum = 0;

	if (bytes[510] != 0xa5)
		return false;
	for (size_t i = 0; i < TOPO_ATA_IDENTIFY_BYTES; i++)
		sum = (uint8_t)(sum + bytes[i]);
	return sum != 0;
}

static uint64_t ata_sectors(const uint8_t *bytes)
{
	if (!(word(bytes, 49) & 0x0200))
		return BLKALIGN_UNKNOWN;
	if (word_valid(word(bytes, 83)) && word(bytes, 83) & 0x0400)
		return load_le64(bytes + 200);
	return load_le32(bytes + 120);
}

static int ata_sizes(const uint8_t *bytes, struct topo_identify_ata *ata, struct blkalign_error *reterr)
{
	bool valid = word_valid(ata->words.word106);
	uint64_t logical = 512;
	unsigned exponent = valid && ata->words.word106 & 0x2000 ? ata->words.word106 & 0xf : 0;

	if (valid && ata->words.word106 & 0x1000)
		logical = ata->words.words117_118 * UINT64_C(2);
	if (logical < 512 || logical > MIB)
		return blkalign_error_set(reterr, -EBADMSG, "ATA IDENTIFY", 234, "words 117-118 say logical sectors of %llu bytes",
					  (unsigned long long)logical);
	ata->logical_bytes = (uint32_t)logical;
	ata->physical_bytes = logical << exponent;
	ata->sectors = ata_sectors(bytes);
	/* Word 209 counts the logical sectors of the first physical one that lie before LBA 0. */
	ata->first_aligned_lba = BLKALIGN_UNKNOWN;
	if (word_valid(ata->words.word209)) {
		uint64_t before = ata->words.word209 & 0x3fff, per_physical = UINT64_C(1) << exponent;

		ata->first_aligned_lba = (per_physical - before % per_physical) % per_physical;
	}
	return 0;
}

int topo_identify_ata_decode(const void *buf, size_t len, struct topo_identify_ata *ret, struct blkalign_error *reterr)
{
	const uint8_t *bytes = buf;
	struct topo_identify_ata ata = { .sectors = 0 };
	uint16_t rotation;
	int r;

	if (len < TOPO_ATA_IDENTIFY_BYTES)
		return blkalign_error_set(reterr, -EBADMSG, "ATA IDENTIFY", 0, "%zu bytes, 512 are needed", len);
	/* Word 0 bit 15 set: a packet device. */
	if (all_zero(bytes, TOPO_ATA_IDENTIFY_BYTES) || word(bytes, 0) & 0x8000)
		return BLKALIGN_NOT_THIS;
	if (checksum_wrong(bytes))
		return blkalign_error_set(reterr, -EBADMSG, "ATA IDENTIFY", 510, "checksum of word 255 does not match");
	ata.words = (struct topo_ata_words){
		.word106 = word(bytes, 106),
		.words117_118 = load_le32(bytes + 234),
		.word209 = word(bytes, 209),
		.word217 = word(bytes, 217),
	};
	r = ata_sizes(bytes, &ata, reterr);
	if (r < 0)
		return r;
	rotation = ata.words.word217;
	ata.rotation_rpm = rotation == 1 || (rotation > 0x400 && rotation < 0xffff) ? rotation : BLKALIGN_UNKNOWN;
	ata.zoned = word(bytes, 69) & 3;
	ata_text(ata.serial, sizeof(ata.serial), bytes, 10, 19);
	ata_text(ata.firmware, sizeof(ata.firmware), bytes, 23, 26);
	ata_text(ata.model, sizeof(ata.model), bytes, 27, 46);
	*ret = ata;
	return 0;
}

/* --- NVMe --- */

static int nvme_bytes(const void *buf, size_t len, const char *name, struct blkalign_error *reterr)
{
	if (len < TOPO_NVME_IDENTIFY_BYTES)
		return blkalign_error_set(reterr, -EBADMSG, name, 0, "%zu bytes, 4096 are needed", len);
	return all_zero(buf, TOPO_NVME_IDENTIFY_BYTES) ? BLKALIGN_NOT_THIS : 0;
}

int topo_identify_nvme_ctrl_decode(const void *buf, size_t len, struct topo_identify_nvme_ctrl *ret, struct blkalign_error *reterr)
{
	const uint8_t *bytes = buf;
	struct topo_identify_nvme_ctrl ctrl = { .pci_vendor = 0 };
	int r = nvme_bytes(buf, len, "NVMe identify controller", reterr);

	if (r)
		return r;
	ctrl.pci_vendor = load_le16(bytes);
	topo_text_trimmed(ctrl.serial, sizeof(ctrl.serial), bytes + 4, 20);
	topo_text_trimmed(ctrl.model, sizeof(ctrl.model), bytes + 24, 40);
	topo_text_trimmed(ctrl.firmware, sizeof(ctrl.firmware), bytes + 64, 8);
	ctrl.mdts_exponent = bytes[77];
	ctrl.awun_blocks = load_le16(bytes + 526) + 1U;
	ctrl.awupf_blocks = load_le16(bytes + 528) + 1U;
	*ret = ctrl;
	return 0;
}

#define NSFEAT_ATOMIC  0x02U /* NAWUN, NAWUPF are this namespace's own */
#define NSFEAT_OPTPERF 0x10U /* NPWG, NPWA, NPDG, NPDA, NOWS are reported */
#define FORMATS_MAX    64U
#define LARGEST_LBADS  20U /* 1 MiB */

static const uint8_t *lba_format(const uint8_t *bytes, unsigned number) { return bytes + 128 + (size_t)number * 4; }

/* Of the formats without metadata, the one with the best relative performance; of equals the one with the larger block. */
static uint32_t best_lba_bytes(const uint8_t *bytes, unsigned formats)
{
	unsigned best_exponent = 0, best_performance = 4;

	for (unsigned i = 0; i < formats; i++) {
		const uint8_t *format = lba_format(bytes, i);
		unsigned exponent = format[2], performance = format[3] & 3;

		if (load_le16(format) || exponent < 9 || exponent > LARGEST_LBADS)
			continue;
		if (performance < best_performance || (performance == best_performance && exponent > best_exponent)) {
			best_performance = performance;
			best_exponent = exponent;
		}
	}
	return best_exponent ? 1U << best_exponent : 0;
}

int topo_identify_nvme_ns_decode(const void *buf, size_t len, struct topo_identify_nvme_ns *ret, struct blkalign_error *reterr)
{
	const char *name = "NVMe identify namespace";
	const uint8_t *bytes = buf, *format;
	struct topo_identify_nvme_ns ns = { .blocks = 0 };
	unsigned index, formats;
	bool atomic, optperf;
	int r = nvme_bytes(buf, len, name, reterr);

	if (r)
		return r;
	formats = bytes[25] + 1U < FORMATS_MAX ? bytes[25] + 1U : FORMATS_MAX;
	/* FLBAS: bits 6:5 extend the number where more than 16 formats are supported. */
	index = (bytes[26] & 0xfU) | (formats > 16 ? (bytes[26] >> 5 & 3U) << 4 : 0);
	if (index >= formats)
		return blkalign_error_set(reterr, -EBADMSG, name, 26, "LBA format %u of %u", index, formats);
	format = lba_format(bytes, index);
	if (format[2] < 9 || format[2] > LARGEST_LBADS)
		return blkalign_error_set(reterr, -EBADMSG, name, 128 + index * 4 + 2, "LBA data size 2^%u", format[2]);
	atomic = bytes[24] & NSFEAT_ATOMIC;
	optperf = bytes[24] & NSFEAT_OPTPERF;
	ns.blocks = load_le64(bytes);
	ns.metadata_bytes = load_le16(format);
	ns.lba_bytes = 1U << format[2];
	ns.relative_performance = format[3] & 3;
	ns.best_lba_bytes = best_lba_bytes(bytes, formats);
	ns.nawun_blocks = atomic ? load_le16(bytes + 34) + 1U : 0;
	ns.nawupf_blocks = atomic ? load_le16(bytes + 36) + 1U : 0;
	ns.nabo_blocks = load_le16(bytes + 42);
	ns.noiob_blocks = load_le16(bytes + 46);
	ns.npwg_blocks = optperf ? load_le16(bytes + 64) + 1U : 0;
	ns.npwa_blocks = optperf ? load_le16(bytes + 66) + 1U : 0;
	ns.npdg_blocks = optperf ? load_le16(bytes + 68) + 1U : 0;
	ns.npda_blocks = optperf ? load_le16(bytes + 70) + 1U : 0;
	ns.nows_blocks = optperf ? load_le16(bytes + 72) + 1U : 0;
	*ret = ns;
	return 0;
}

struct topo_nvme topo_nvme_facts(const struct topo_identify_nvme_ctrl *ctrl, const struct topo_identify_nvme_ns *ns,
				 uint32_t max_sectors512)
{
	return (struct topo_nvme){
		.lba_bytes = ns->lba_bytes,
		.npwg_blocks = ns->npwg_blocks,
		.nows_blocks = ns->nows_blocks,
		.nawupf_blocks = ns->nawupf_blocks,
		.awupf_blocks = ctrl->awupf_blocks,
		.nabo_blocks = ns->nabo_blocks,
		.noiob_blocks = ns->noiob_blocks,
		.max_sectors512 = max_sectors512,
	};
}
