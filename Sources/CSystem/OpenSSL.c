// OpenSSL is loaded at its first use, because most commands fetch nothing. libcurl depends on OpenSSL, so both are
// installed together.
#include <dlfcn.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>

#include "CSystem.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#ifdef OPENSSL_SHLIB_VERSION
#define LIBRARY(name) name ".so." TEXT(OPENSSL_SHLIB_VERSION)
#else
#define LIBRARY(name) name ".so." SHLIB_VERSION_NUMBER
#endif

#define DIGESTS(EACH)          \
    EACH(EVP_get_digestbyname) \
    EACH(EVP_MD_CTX_new)       \
    EACH(EVP_MD_CTX_copy_ex)   \
    EACH(EVP_MD_CTX_free)      \
    EACH(EVP_DigestInit_ex)    \
    EACH(EVP_DigestUpdate)     \
    EACH(EVP_DigestFinal_ex)   \
    EACH(EVP_DigestVerifyInit) \
    EACH(EVP_DigestVerify)     \
    EACH(EVP_PKEY_free)        \
    EACH(EVP_PKEY_new_raw_public_key)
#define SESSIONS(EACH)           \
    EACH(SSL_get_shutdown)       \
    EACH(SSL_pending)            \
    EACH(SSL_peek)               \
    EACH(SSL_get_version)        \
    EACH(SSL_get_current_cipher) \
    EACH(SSL_CIPHER_get_name)

static struct {
#define FUNCTION(name) __typeof__(name) *name;
    DIGESTS(FUNCTION)
    SESSIONS(FUNCTION)
} library;
static int has_digests;
static int has_sessions;

static void load(void) {
    has_digests = has_sessions = 1;
    void *crypto = dlopen(LIBRARY("libcrypto"), RTLD_LAZY | RTLD_LOCAL);
    void *ssl = dlopen(LIBRARY("libssl"), RTLD_LAZY | RTLD_LOCAL);
#define FIND(handle, found, name) \
    if (!handle || !(*(void **)&library.name = dlsym(handle, #name))) found = 0;
#define FIND_DIGEST(name) FIND(crypto, has_digests, name)
#define FIND_SESSION(name) FIND(ssl, has_sessions, name)
    DIGESTS(FIND_DIGEST)
    SESSIONS(FIND_SESSION)
}

static void require(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
}

struct dlm_digest {
    EVP_MD_CTX *context; // NULL for a CRC
    int kind;
    uint64_t crc;
};

struct dlm_digest *dlm_digest_create(const char *name) {
    int kind = dlm_crc_kind(name);
    if (kind < 0) require();
    const EVP_MD *method = kind < 0 && has_digests ? library.EVP_get_digestbyname(name) : NULL;
    if (kind < 0 && !method) return NULL;
    struct dlm_digest *digest = calloc(1, sizeof *digest);
    if (!digest) return NULL;
    digest->kind = kind;
    if (kind >= 0) return digest;
    digest->context = library.EVP_MD_CTX_new();
    if (!digest->context || library.EVP_DigestInit_ex(digest->context, method, NULL) != 1) {
        dlm_digest_free(digest);
        return NULL;
    }
    return digest;
}

struct dlm_digest *dlm_digest_copy(const struct dlm_digest *digest) {
    struct dlm_digest *copy = calloc(1, sizeof *copy);
    if (!copy) return NULL;
    if (!digest->context) {
        *copy = *digest;
        return copy;
    }
    copy->context = library.EVP_MD_CTX_new();
    if (!copy->context || library.EVP_MD_CTX_copy_ex(copy->context, digest->context) != 1) {
        dlm_digest_free(copy);
        return NULL;
    }
    return copy;
}

int dlm_digest_update(struct dlm_digest *digest, const void *bytes, size_t count) {
    if (!digest->context) {
        digest->crc = dlm_crc_update(digest->kind, digest->crc, bytes, count);
        return 0;
    }
    return library.EVP_DigestUpdate(digest->context, bytes, count) == 1 ? 0 : -1;
}

size_t dlm_digest_finish(struct dlm_digest *digest, uint8_t *out) {
    unsigned int length = 0;
    if (!digest->context) {
        for (int shift = 8 * dlm_crc_width(digest->kind) - 8; shift >= 0; shift -= 8)
            out[length++] = (uint8_t)(digest->crc >> shift);
        return length;
    }
    if (library.EVP_DigestFinal_ex(digest->context, out, &length) != 1) return 0;
    return length;
}

void dlm_digest_free(struct dlm_digest *digest) {
    if (!digest) return;
    if (digest->context) library.EVP_MD_CTX_free(digest->context);
    free(digest);
}

int dlm_ed25519_fits(const uint8_t *key, const uint8_t *signature, const void *bytes, size_t count) {
    require();
    if (!has_digests) return -1;
    EVP_PKEY *public = library.EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, 32);
    EVP_MD_CTX *context = library.EVP_MD_CTX_new();
    int fits = -1;
    if (public && context && library.EVP_DigestVerifyInit(context, NULL, NULL, NULL, public) == 1)
        fits = library.EVP_DigestVerify(context, signature, 64, bytes, count) == 1;
    if (context) library.EVP_MD_CTX_free(context);
    if (public) library.EVP_PKEY_free(public);
    return fits;
}

int dlm_tls_was_closed(const void *ssl) {
    require();
    return has_sessions && (library.SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

int dlm_tls_unread(void *ssl, void *bytes, int capacity) {
    require();
    int pending = has_sessions ? library.SSL_pending(ssl) : 0;
    return pending > 0 ? library.SSL_peek(ssl, bytes, pending < capacity ? pending : capacity) : 0;
}

int dlm_tls_names(const void *ssl, const char **version, const char **cipher) {
    require();
    if (!has_sessions) return 0;
    *version = library.SSL_get_version(ssl);
    *cipher = library.SSL_CIPHER_get_name(library.SSL_get_current_cipher(ssl));
    return *version && *cipher;
}
