/*
 * What the shim stands on: system calls by hand, and one page of a file that is shared with the outside.
 *
 * No C library: the shim is loaded into whatever program runs in a container, glibc or musl, old or new, before
 * anything in it has been set up. So it allocates nothing, looks up no symbol, and touches errno only through the
 * program's own C library, which any of these functions would.
 */
#ifndef LOCKPICK_RAW_H
#define LOCKPICK_RAW_H

#include <stdint.h>

struct timespec64 {
  int64_t seconds;
  int64_t nanos;
};

#define NANOS_PER_SECOND 1000000000LL

/* Numbers and constants of the two architectures that have a 64-bit time_t and a Debian image: <asm/unistd.h>. */
#if defined(__x86_64__)
#define NR_MMAP 9
#define NR_CLOSE 3
#define NR_NANOSLEEP 35
#define NR_FSYNC 74
#define NR_FDATASYNC 75
#define NR_FTRUNCATE 77
#define NR_CLOCK_GETTIME 228
#define NR_OPENAT 257
static inline long raw6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
#define NR_FTRUNCATE 46
#define NR_OPENAT 56
#define NR_CLOSE 57
#define NR_FSYNC 82
#define NR_FDATASYNC 83
#define NR_NANOSLEEP 101
#define NR_CLOCK_GETTIME 113
#define NR_MMAP 222
static inline long raw6(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#else
#error "x86_64 and aarch64 are supported"
#endif

static inline long raw3(long number, long a, long b, long c) { return raw6(number, a, b, c, 0, 0, 0); }

/* Of the program's C library; glibc and musl have it under this name. */
extern int *__errno_location(void);

/* A system call's result as the C library returns it. */
static inline int answer(long result) {
  if (result >= 0) return (int)result;
  *__errno_location() = (int)-result;
  return -1;
}

#define PAGE_BYTES 4096
#define NO_PAGE ((int64_t *)-1)

/*
 * The page behind `path`, made if it is not there, mapped once and never unmapped; 0 where it cannot be had, which is
 * then not tried again. Two threads that come here first may both map it: the same page, and one mapping stays unused.
 */
static inline int64_t *page_at(const char *path, int64_t *_Atomic *known) {
  int64_t *page = __atomic_load_n((int64_t **)known, __ATOMIC_ACQUIRE);
  if (page != 0) return page == NO_PAGE ? 0 : page;
  /* AT_FDCWD, O_RDWR | O_CREAT | O_CLOEXEC, rw-rw-rw- */
  long file = raw6(NR_OPENAT, -100, (long)path, 02 | 0100 | 02000000, 0666, 0, 0);
  page = NO_PAGE;
  if (file >= 0) {
    if (raw3(NR_FTRUNCATE, file, PAGE_BYTES, 0) == 0) {
      /* PROT_READ | PROT_WRITE, MAP_SHARED */
      long mapped = raw6(NR_MMAP, 0, PAGE_BYTES, 3, 1, file, 0);
      if (mapped > 0 || mapped < -PAGE_BYTES) page = (int64_t *)mapped;
    }
    raw3(NR_CLOSE, file, 0, 0);
  }
  __atomic_store_n((int64_t **)known, page, __ATOMIC_RELEASE);
  return page == NO_PAGE ? 0 : page;
}

#define SLOT_WORDS 8

/*
 * Copies the settings that count. The page begins with a number, of which the lowest byte is all that ever changes: its
 * parity says which of the two slots behind it counts. Outside, the other slot is filled first, and then that one
 * byte is written. A reader that was overtaken sees another number and reads again.
 */
static inline void settings_of(const int64_t *page, int64_t settings[SLOT_WORDS]) {
  for (;;) {
    int64_t turn = __atomic_load_n(page, __ATOMIC_ACQUIRE);
    const int64_t *slot = page + SLOT_WORDS * (1 + (turn & 1));
    for (int word = 0; word < SLOT_WORDS; word++) settings[word] = __atomic_load_n(slot + word, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(page, __ATOMIC_RELAXED) == turn) return;
  }
}

#endif
