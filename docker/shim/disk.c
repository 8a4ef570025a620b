/*
 * A disk that takes its time: holds every fsync and fdatasync of one container back for so long, set from outside, and
 * counts how many it held back. The data is written all the same. Programs that do not ask the C library (Go) see
 * nothing of this.
 */
#include "raw.h"

/* Of a slot: when it was made, and the delay, in nanoseconds. */
enum { MADE_AT, DELAY };
/* Of the page, behind its slots: how many calls were held back, and for how long in all. */
enum { HELD = 3 * SLOT_WORDS, HELD_NANOS };

static int64_t *_Atomic page;

static int64_t monotonic(void) {
  struct timespec64 now;
  raw3(NR_CLOCK_GETTIME, 1, (long)&now, 0);
  return now.seconds * NANOS_PER_SECOND + now.nanos;
}

static void hold_back(void) {
  int64_t *shared = page_at("/lockpick-controls/disk", &page);
  if (shared == 0) return;
  int64_t settings[SLOT_WORDS];
  settings_of(shared, settings);
  if (settings[DELAY] <= 0) return;
  int64_t began = monotonic();
  struct timespec64 left = {settings[DELAY] / NANOS_PER_SECOND, settings[DELAY] % NANOS_PER_SECOND};
  /* -EINTR: a signal came; what is left stands in `left`. */
  while (raw3(NR_NANOSLEEP, (long)&left, (long)&left, 0) == -4) continue;
  __atomic_fetch_add(shared + HELD, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(shared + HELD_NANOS, monotonic() - began, __ATOMIC_RELAXED);
}

int fsync(int file) {
  hold_back();
  return answer(raw3(NR_FSYNC, file, 0, 0));
}

int fdatasync(int file) {
  hold_back();
  return answer(raw3(NR_FDATASYNC, file, 0, 0));
}
