/* A fault at the n-th call that touches files below a folder: a kill, EIO, or a disk that is full.

   Loaded by LD_PRELOAD, so that it sees the calls of SQLite and of every other library. Nothing is
   counted until `faults_arm`. The count is shared with the process that forked this one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, KILL, IO_ERROR, FULL };

static struct { long calls, at, kind; char root[4096]; } *shared;

__attribute__((constructor)) static void set_up(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void faults_arm(const char *root, long at, long kind) {
    snprintf(shared->root, sizeof shared->root, "%s", root);
    shared->calls = 0;
    shared->at = at;
    shared->kind = kind;
}

long faults_calls(void) { return shared->calls; }

static int below(const char *path) {
    size_t size = strlen(shared->root);
    return size && !strncmp(path, shared->root, size);
}

static int handle_below(int handle) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return below(path);
}

static int path_below(int folder, const char *path) {
    if (path && path[0] == '/') return below(path);
    if (folder != AT_FDCWD) return handle_below(folder);
    char now[4096];
    return getcwd(now, sizeof now) && below(now);
}

/* Count a call; return the error it is to fail with, or 0. A full disk stays full. */
static int fault(int touches, int fills) {
    if (!shared || !shared->root[0] || !touches) return 0;
    long number = __sync_add_and_fetch(&shared->calls, 1);
    if (shared->kind == FULL) return fills && shared->at && number >= shared->at ? ENOSPC : 0;
    if (number != shared->at) return 0;
    if (shared->kind == IO_ERROR) return EIO;
    if (shared->kind == KILL) return -1;
    return 0;
}

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define FAULT(touches, fills) do { \
    int before = errno, found = fault(touches, fills); \
    if (found < 0) die(); \
    if (found) { errno = found; return -1; } \
    errno = before; } while (0)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        FAULT(path_below(AT_FDCWD, path), flags & O_CREAT); return real(path, flags, mode); }
#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(name); va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        FAULT(path_below(folder, path), flags & O_CREAT); return real(folder, path, flags, mode); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

/* A process that is killed while it writes has written a part. */
#define WRITE(name, parameters, arguments, half) \
    ssize_t name parameters { REAL(name); int before = errno; \
        int found = fault(handle_below(handle), 1); \
        if (found < 0) { half; die(); } \
        if (found) { errno = found; return -1; } \
        errno = before; return real arguments; }
WRITE(write, (int handle, const void *data, size_t size), (handle, data, size),
      if (real(handle, data, size / 2) < 0) die())
WRITE(pwrite, (int handle, const void *data, size_t size, off_t at), (handle, data, size, at),
      if (real(handle, data, size / 2, at) < 0) die())
WRITE(pwrite64, (int handle, const void *data, size_t size, off64_t at), (handle, data, size, at),
      if (real(handle, data, size / 2, at) < 0) die())
WRITE(writev, (int handle, const struct iovec *data, int count), (handle, data, count), )

ssize_t read(int handle, void *data, size_t size) {
    REAL(read); FAULT(handle_below(handle), 0); return real(handle, data, size); }
ssize_t pread64(int handle, void *data, size_t size, off64_t at) {
    REAL(pread64); FAULT(handle_below(handle), 0); return real(handle, data, size, at); }

#define HANDLE(name) \
    int name(int handle) { REAL(name); FAULT(handle_below(handle), 0); return real(handle); }
HANDLE(fsync) HANDLE(fdatasync)
#define CUT(name, kind) \
    int name(int handle, kind size) { REAL(name); FAULT(handle_below(handle), 1); return real(handle, size); }
CUT(ftruncate, off_t) CUT(ftruncate64, off64_t)
#define PATH(name) \
    int name(const char *path) { REAL(name); FAULT(path_below(AT_FDCWD, path), 0); return real(path); }
PATH(unlink) PATH(rmdir)
int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat); FAULT(path_below(folder, path), 0); return real(folder, path, flags); }
int mkdir(const char *path, mode_t mode) {
    REAL(mkdir); FAULT(path_below(AT_FDCWD, path), 1); return real(path, mode); }
#define TWO(name) \
    int name(const char *from, const char *to) { \
        REAL(name); FAULT(path_below(AT_FDCWD, to), 1); return real(from, to); }
TWO(rename) TWO(link)
int linkat(int a, const char *from, int b, const char *to, int flags) {
    REAL(linkat); FAULT(path_below(b, to), 1); return real(a, from, b, to, flags); }
int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat); FAULT(path_below(b, to), 1); return real(a, from, b, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    REAL(renameat2); FAULT(path_below(b, to), 1); return real(a, from, b, to, flags); }
int fchmod(int handle, mode_t mode) {
    REAL(fchmod); FAULT(handle_below(handle), 0); return real(handle, mode); }
int chmod(const char *path, mode_t mode) {
    REAL(chmod); FAULT(path_below(AT_FDCWD, path), 0); return real(path, mode); }
