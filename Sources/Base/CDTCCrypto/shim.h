// OpenSSL's libcrypto, version 3.
#ifndef CDTCCRYPTO_SHIM_H
#define CDTCCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/provider.h>

#endif
