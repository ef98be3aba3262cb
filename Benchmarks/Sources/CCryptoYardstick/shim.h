// The digests of OpenSSL, for the bound of attachments.
#ifndef CCRYPTO_YARDSTICK_SHIM_H
#define CCRYPTO_YARDSTICK_SHIM_H

#include <openssl/evp.h>

#endif
