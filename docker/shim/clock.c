/*
 * The wall clock of one container, set from outside: overrides every function of the C library that reads it.
 *
 * time shown = true time + offset + rate × (time since the setting was made), or the true time in every second
 * period of a strobe. The monotonic clocks are left alone, as a machine's are when somebody sets its date.
 * Programs that do not ask the C library (Go) see nothing of this.
 */
#include "raw.h"

#define REALTIME 0
#define MONOTONIC 1
#define REALTIME_COARSE 5

/* Of a slot, in nanoseconds: when it was made (true time), how far, how fast in millionths, how long a phase lasts. */
enum { MADE_AT, OFFSET, RATE, PHASE };

static int64_t *_Atomic page;

static int64_t read_clock(int clock) {
  struct timespec64 now;
  raw3(NR_CLOCK_GETTIME, clock, (long)&now, 0);
  return now.seconds * NANOS_PER_SECOND + now.nanos;
}

/* How far the shown time is from the true one, `now`. */
static int64_t difference(int64_t now) {
  int64_t *shared = page_at("/lockpick-controls/clock", &page);
  if (shared == 0) return 0;
  int64_t settings[SLOT_WORDS];
  settings_of(shared, settings);
  int64_t since = now - settings[MADE_AT];
  if (settings[PHASE] > 0 && (since / settings[PHASE]) % 2 == 1) return 0;
  /* Whole microseconds: a week at a thousand times the speed fits. */
  return settings[OFFSET] + (settings[RATE] == 0 ? 0 : since / 1000 * settings[RATE] / 1000);
}

static struct timespec64 shown(int clock) {
  int64_t nanos = read_clock(clock);
  nanos += difference(nanos);
  struct timespec64 time = {nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND};
  return time;
}

int clock_gettime(int clock, struct timespec64 *time) {
  long result = raw3(NR_CLOCK_GETTIME, clock, (long)time, 0);
  if (result == 0 && (clock == REALTIME || clock == REALTIME_COARSE)) *time = shown(clock);
  return answer(result);
}

int gettimeofday(struct timespec64 *time, void *zone) {
  (void)zone;
  if (time != 0) {
    *time = shown(REALTIME);
    time->nanos /= 1000;
  }
  return 0;
}

int64_t time(int64_t *into) {
  int64_t seconds = shown(REALTIME).seconds;
  if (into != 0) *into = seconds;
  return seconds;
}

int timespec_get(struct timespec64 *time, int base) {
  /* TIME_UTC; what else there may be is counted by a clock that stays as it is. */
  if (base == 1) *time = shown(REALTIME);
  else if (base != 2 || raw3(NR_CLOCK_GETTIME, MONOTONIC, (long)time, 0) != 0) return 0;
  return base;
}
