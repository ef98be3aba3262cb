#define _GNU_SOURCE
#include "CDTCPlatform.h"

#include <string.h>

enum { lane_count = 16 };

typedef uint8_t lanes __attribute__((vector_size(lane_count)));

static lanes lanes_at(const uint8_t *place) {
  lanes value;
  memcpy(&value, place, sizeof value);
  return value;
}

bool cdt_contains(
    const uint8_t *text, int64_t count, const uint8_t *bytes, int64_t length, int64_t first, int64_t second) {
  int64_t places = count - length + 1, place = 0;
  for (; place + lane_count <= places; place += lane_count) {
    lanes found = (lanes)((lanes_at(text + place + first) == bytes[first]) & (lanes_at(text + place + second) == bytes[second]));
    uint64_t halves[2];
    memcpy(halves, &found, sizeof halves);
    if ((halves[0] | halves[1]) == 0) continue;
    for (int lane = 0; lane < lane_count; lane++) {
      if (found[lane] && memcmp(text + place + lane, bytes, (size_t)length) == 0) return true;
    }
  }
  for (; place < places; place++) {
    if (text[place + first] == bytes[first] && memcmp(text + place, bytes, (size_t)length) == 0) return true;
  }
  return false;
}

bool cdt_finds(const uint8_t *text, int64_t count, const uint8_t *bytes, int64_t length) {
  return memmem(text, (size_t)count, bytes, (size_t)length) != NULL;
}
