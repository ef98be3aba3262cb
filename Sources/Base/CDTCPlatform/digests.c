#include "CDTCPlatform.h"

#include <string.h>

enum { lane_count = 8 };

/// A word of each message.
typedef uint32_t lanes __attribute__((vector_size(4 * lane_count)));

static const uint32_t initial[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

static const int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static const uint32_t constants[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

/// Turns a word from the order of bytes in MD5, or into it.
static uint32_t little_endian(uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap32(word);
#else
  return word;
#endif
}

/// Adds the next block of each message. Source: RFC 1321, 3.4
static void add_blocks(lanes state[4], const uint8_t *const blocks[lane_count]) {
  lanes words[16];
  for (int word = 0; word < 16; word++) {
    for (int lane = 0; lane < lane_count; lane++) {
      uint32_t value;
      memcpy(&value, blocks[lane] + 4 * word, 4);
      words[word][lane] = little_endian(value);
    }
  }
  lanes a = state[0], b = state[1], c = state[2], d = state[3];
#pragma clang loop unroll(full)
  for (int step = 0; step < 64; step++) {
    int round = step / 16;
    lanes mixed = round == 0 ? d ^ (b & (c ^ d)) : round == 1 ? c ^ (d & (b ^ c)) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
    int word = round == 0 ? step : round == 1 ? 5 * step + 1 : round == 2 ? 3 * step + 5 : 7 * step;
    int rotation = rotations[round][step % 4];
    lanes sum = a + mixed + words[word % 16] + constants[step];
    a = d;
    d = c;
    c = b;
    b += sum << rotation | sum >> (32 - rotation);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

void cdt_md5(const uint8_t *messages, const int64_t *ends, int64_t count, uint8_t *digests) {
  static const uint8_t idle[64];
  lanes state[4] = {{0}};
  const uint8_t *blocks[lane_count];
  int64_t running[lane_count];
  for (int lane = 0; lane < lane_count; lane++) {
    blocks[lane] = idle;
    running[lane] = -1;
  }
  int64_t next = 0, finished = 0;
  while (1) {
    // A lane whose message ends continues with the next message.
    for (int lane = 0; lane < lane_count; lane++) {
      if (running[lane] >= 0) {
        blocks[lane] += 64;
        if (blocks[lane] < messages + ends[running[lane]]) continue;
        for (int word = 0; word < 4; word++) {
          uint32_t value = little_endian(state[word][lane]);
          memcpy(digests + 16 * running[lane] + 4 * word, &value, 4);
        }
        blocks[lane] = idle;
        running[lane] = -1;
        finished++;
      }
      if (next < count) {
        blocks[lane] = messages + (next == 0 ? 0 : ends[next - 1]);
        running[lane] = next++;
        for (int word = 0; word < 4; word++) state[word][lane] = initial[word];
      }
    }
    if (finished == count) return;
    add_blocks(state, blocks);
  }
}
