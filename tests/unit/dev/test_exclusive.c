/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may open for writing. Loop devices, mounts and swap need root; without it those tests are left out. */
#include "scratch.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev/dev.h"

#define FILE_BYTES (16 << 20)

static void make_file(char path[64])
{
	int fd;

	fd = scratch_file(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
	close(fd);
}

static void refused(const char *path, int code, const char *word)
{
	struct blkalign_error err = { 0 };
	struct dev *dev = NULL;

	assert_int_equal(dev_open_file_exclusive(path, &dev, &err), code);
	assert_string_equal(err.where, path);
	if (!strstr(err.message, word))
		fail_msg("%s: no \"%s\" in \"%s\"", path, word, err.message);
}

static void granted(const char *path)
{
	struct blkalign_error err = { 0 };
	struct dev *dev = NULL;

	if (dev_open_file_exclusive(path, &dev, &err) != 0)
		fail_msg("%s: %s", path, err.message);
	assert_true(dev->writable);
	dev_close(dev);
}

static void run(const char *words, const char *device, const char *more)
{
	char command[256];

	snprintf(command, sizeof(command), "%s %s %s", words, device, more);
	if (system(command) != 0)
		fail_msg("%s", command);
}

static void test_write_and_read_back(void **state)
{
	char path[64];
	struct dev *dev;
	uint8_t got[8];
	int fd;

	(void)state;
	make_file(path);
	assert_int_equal(dev_open_file_exclusive(path, &dev, NULL), 0);
	assert_int_equal(dev->size_bytes, FILE_BYTES);
	assert_int_equal(dev_write(dev, 4097, "12345678", 8, NULL), 0);
	assert_int_equal(dev_flush(dev, NULL), 0);
	assert_int_equal(dev_read(dev, 4097, got, 8, NULL), 0);
	assert_memory_equal(got, "12345678", 8);
	assert_int_equal(dev_write(dev, FILE_BYTES - 4, got, 8, NULL), -ERANGE);
	/* Not O_NONBLOCK any more, which io_uring would mind. */
	assert_int_equal(fcntl(dev->leaf_fd, F_GETFL) & O_NONBLOCK, 0);
	dev_close(dev);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, got, 8, 4097), 8);
	assert_memory_equal(got, "12345678", 8);
	close(fd);
	unlink(path);
}

static void test_open_elsewhere(void **state)
{
	char path[64], word[64];
	struct flock bytes = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1 };
	int fd, wait_for_end[2], ready[2];
	char c = 0;
	pid_t pid;

	(void)state;
	make_file(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	refused(path, -EBUSY, "already in this process");
	close(fd);
	granted(path);
	/* In another process, with a lock such as qemu's. */
	assert_int_equal(pipe(wait_for_end), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		close(wait_for_end[1]);
		fd = open(path, O_RDWR);
		c = fcntl(fd, F_OFD_SETLK, &bytes) == 0;
		_exit(write(ready[1], &c, 1) == 1 && read(wait_for_end[0], &c, 1) == 0 ? 0 : 1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(c, 1);
	snprintf(word, sizeof(word), "is open in process %ld (", (long)pid);
	refused(path, -EBUSY, word);
	close(wait_for_end[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	granted(path);
	close(wait_for_end[0]);
	close(ready[0]);
	close(ready[1]);
	unlink(path);
}

static void test_twice_and_leased(void **state)
{
	char path[64];
	struct dev *first;
	int fd;

	(void)state;
	make_file(path);
	assert_int_equal(dev_open_file_exclusive(path, &first, NULL), 0);
	refused(path, -EBUSY, "given twice");
	dev_close(first);
	granted(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	fcntl(fd, F_SETSIG, SIGURG);
	assert_int_equal(fcntl(fd, F_SETLEASE, F_RDLCK), 0);
	refused(path, -EBUSY, "already in this process");
	close(fd);
	unlink(path);
}

#define RACERS 6

/* Says whether it won, and keeps what it won until `go_home` is closed. */
static int racer(const char *path, int start, int result, int go_home)
{
	struct dev *dev = NULL;
	char c;

	if (read(start, &c, 1) != 0)
		return 1;
	c = dev_open_file_exclusive(path, &dev, NULL) == 0;
	if (write(result, &c, 1) != 1 || read(go_home, &c, 1) != 0)
		return 1;
	dev_close(dev);
	return 0;
}

static unsigned race(const char *path)
{
	int start[2], result[2], go_home[2], status;
	unsigned winners = 0;
	pid_t pids[RACERS];
	char c = 0;

	assert_int_equal(pipe(start) | pipe(result) | pipe(go_home), 0);
	for (unsigned i = 0; i < RACERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			close(start[1]);
			close(go_home[1]);
			_exit(racer(path, start[0], result[1], go_home[0]));
		}
	}
	close(start[1]);
	for (unsigned i = 0; i < RACERS; i++) {
		assert_int_equal(read(result[0], &c, 1), 1);
		winners += (unsigned)c;
	}
	close(go_home[1]);
	for (unsigned i = 0; i < RACERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	close(start[0]);
	close(result[0]);
	close(result[1]);
	close(go_home[0]);
	return winners;
}

static void test_race(void **state)
{
	char path[64];

	(void)state;
	make_file(path);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(race(path), 1);
	unlink(path);
}

static void test_not_for_writing(void **state)
{
	char path[64], folder[64];

	(void)state;
	refused("/dev/null", -ENOTSUP, "neither a regular file");
	refused("/nonexistent/x", -ENOENT, "No such file");
	scratch_folder(folder);
	refused(folder, -EISDIR, "directory");
	if (mount("tmpfs", folder, "tmpfs", 0, NULL) == 0) {
		snprintf(path, sizeof(path), "%.40s/x", folder);
		close(open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
		assert_int_equal(mount(NULL, folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
		refused(path, -EROFS, "mounted read-only");
		assert_int_equal(umount(folder), 0);
	}
	rmdir(folder);
}

/* A loop device on `path`, partitioned if wanted; false without root or loop devices. */
static bool attach(const char *path, const char *options, char loop[32])
{
	char command[160];
	FILE *f;
	bool ok;

	snprintf(command, sizeof(command), "losetup -f --show %s %s 2>/dev/null", options, path);
	f = popen(command, "r");
	ok = f && fgets(loop, 32, f);
	if (f)
		pclose(f);
	loop[strcspn(loop, "\n")] = '\0';
	return ok;
}

static void test_loop_and_mount(void **state)
{
	char path[64], loop[32], folder[64], word[96];
	struct dev *dev;
	int fd;

	(void)state;
	make_file(path);
	if (!attach(path, "", loop)) {
		unlink(path);
		skip();
	}
	snprintf(word, sizeof(word), "loop device %s", loop + 5);
	refused(path, -EBUSY, word);
	granted(loop);
	assert_int_equal(dev_open_file_exclusive(loop, &dev, NULL), 0);
	assert_int_equal(dev_write(dev, 0, "x", 1, NULL), 0);
	assert_int_equal(dev_flush(dev, NULL), 0);
	refused(loop, -EBUSY, "given twice");
	/* What partitions disks and udev respect this. */
	fd = open(loop, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), -1);
	dev_close(dev);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	refused(loop, -EBUSY, "already in this process");
	close(fd);
	run("mkfs.ext4 -q", loop, "");
	scratch_folder(folder);
	assert_int_equal(mount(loop, folder, "ext4", 0, NULL), 0);
	snprintf(word, sizeof(word), "is mounted on %s", folder);
	refused(loop, -EBUSY, word);
	assert_int_equal(umount(folder), 0);
	granted(loop);
	rmdir(folder);
	run("losetup -d", loop, "");
	granted(path);
	unlink(path);
}

/* The kernel keeps the disk, the partition and their holders apart from each other. */
static void test_partition_and_swap(void **state)
{
	char path[64], loop[32], part[40], word[96];
	struct dev *disk;

	(void)state;
	make_file(path);
	if (!attach(path, "", loop)) {
		unlink(path);
		skip();
	}
	run("addpart", loop, "1 2048 24576");
	snprintf(part, sizeof(part), "%sp1", loop);
	granted(part);
	assert_int_equal(dev_open_file_exclusive(loop, &disk, NULL), 0);
	refused(part, -EBUSY, "lies on a disk that is open already in this process");
	dev_close(disk);
	run("mkswap -q", part, "");
	run("swapon", part, "");
	refused(part, -EBUSY, "is swapped to");
	snprintf(word, sizeof(word), "has the partition %s, which is swapped to", part + 5);
	refused(loop, -EBUSY, word);
	run("swapoff", part, "");
	granted(part);
	granted(loop);
	run("delpart", loop, "1");
	run("losetup -d", loop, "");
	unlink(path);
}

static void test_read_only_disk(void **state)
{
	char path[64], loop[32];

	(void)state;
	make_file(path);
	if (!attach(path, "-r", loop)) {
		unlink(path);
		skip();
	}
	refused(loop, -EROFS, "set read-only");
	run("losetup -d", loop, "");
	unlink(path);
}

/* The disk below is full: said once, and nothing is called written. */
static void test_no_space(void **state)
{
	char folder[64], path[96];
	static uint8_t data[1 << 20];
	struct dev *dev;
	int fd;

	(void)state;
	scratch_folder(folder);
	if (mount("tmpfs", folder, "tmpfs", 0, "size=256k") < 0) {
		rmdir(folder);
		skip();
	}
	memset(data, 1, sizeof(data));
	snprintf(path, sizeof(path), "%s/x", folder);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 4 << 20), 0);
	close(fd);
	assert_int_equal(dev_open_file_exclusive(path, &dev, NULL), 0);
	assert_int_equal(dev_write(dev, 0, data, 4096, NULL), 0);
	assert_int_equal(dev_write(dev, 4096, data, sizeof(data), NULL), -ENOSPC);
	assert_int_equal(dev_write(dev, 0, data, 4096, NULL), 0);
	dev_close(dev);
	assert_int_equal(umount(folder), 0);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read_back),
		cmocka_unit_test(test_open_elsewhere),
		cmocka_unit_test(test_twice_and_leased),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_not_for_writing),
		cmocka_unit_test(test_loop_and_mount),
		cmocka_unit_test(test_partition_and_swap),
		cmocka_unit_test(test_read_only_disk),
		cmocka_unit_test(test_no_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
