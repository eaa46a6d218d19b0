#include "TLSServer.h"

#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

static int choose(SSL *tls, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
                  unsigned int offered_length, void *protocols) {
    (void)tls;
    unsigned char *name = NULL;
    if (SSL_select_next_proto(&name, length, protocols, (unsigned)strlen(protocols), offered, offered_length)
        != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = name;
    return SSL_TLSEXT_ERR_OK;
}

static int version(int number) {
    switch (number) {
    case 10: return TLS1_VERSION;
    case 11: return TLS1_1_VERSION;
    case 12: return TLS1_2_VERSION;
    default: return TLS1_3_VERSION;
    }
}

dlmtest_tls_context *dlmtest_tls_context_create(const char *chain, const char *key, int lowest, int highest,
                                                const char *protocols, int wants_client_certificate,
                                                const char *client_authority) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context) return NULL;
    if (highest < 12) SSL_CTX_set_security_level(context, 0);
    if (wants_client_certificate)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    if (client_authority && SSL_CTX_load_verify_locations(context, client_authority, NULL) != 1) {
        SSL_CTX_free(context);
        return NULL;
    }
    static const unsigned char identifier[] = "dlm";
    SSL_CTX_set_session_id_context(context, identifier, sizeof identifier);
    char *names = OPENSSL_strdup(protocols);
    SSL_CTX_set_app_data(context, names);
    SSL_CTX_set_alpn_select_cb(context, choose, names);
    if (SSL_CTX_set_min_proto_version(context, version(lowest)) == 1
        && SSL_CTX_set_max_proto_version(context, version(highest)) == 1
        && SSL_CTX_use_certificate_chain_file(context, chain) == 1
        && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1)
        return context;
    dlmtest_tls_context_free(context);
    return NULL;
}

void dlmtest_tls_context_free(dlmtest_tls_context *context) {
    OPENSSL_free(SSL_CTX_get_app_data(context));
    SSL_CTX_free(context);
}

dlmtest_tls *dlmtest_tls_create(dlmtest_tls_context *context) {
    SSL *tls = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    if (!tls || !in || !out) {
        SSL_free(tls);
        BIO_free(in);
        BIO_free(out);
        return NULL;
    }
    SSL_set_bio(tls, in, out);
    SSL_set_accept_state(tls);
    return tls;
}

void dlmtest_tls_free(dlmtest_tls *tls) { SSL_free(tls); }

static int wants_more(SSL *tls, int result) {
    int error = SSL_get_error(tls, result);
    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ;
}

int dlmtest_tls_accept(dlmtest_tls *tls) {
    ERR_clear_error();
    int result = SSL_do_handshake(tls);
    if (result == 1) return 1;
    return wants_more(tls, result) ? 0 : -1;
}

int dlmtest_tls_feed(dlmtest_tls *tls, const void *bytes, size_t count) {
    return BIO_write(SSL_get_rbio(tls), bytes, (int)count) == (int)count;
}

size_t dlmtest_tls_drain(dlmtest_tls *tls, void *bytes, size_t capacity) {
    int count = BIO_read(SSL_get_wbio(tls), bytes, (int)capacity);
    return count > 0 ? (size_t)count : 0;
}

int dlmtest_tls_read(dlmtest_tls *tls, void *bytes, int capacity) {
    ERR_clear_error();
    int result = SSL_read(tls, bytes, capacity);
    if (result > 0) return result;
    return wants_more(tls, result) ? 0 : -1;
}

int dlmtest_tls_write(dlmtest_tls *tls, const void *bytes, int count) {
    ERR_clear_error();
    int result = count ? SSL_write(tls, bytes, count) : 0;
    ERR_clear_error();
    return result == count;
}

void dlmtest_tls_notify_close(dlmtest_tls *tls) {
    ERR_clear_error();
    if (SSL_is_init_finished(tls)) SSL_shutdown(tls);
    ERR_clear_error();
}

int dlmtest_tls_speaks_h2(dlmtest_tls *tls) {
    const unsigned char *name = NULL;
    unsigned int length = 0;
    SSL_get0_alpn_selected(tls, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

dlmtest_hpack *dlmtest_hpack_create(void) {
    nghttp2_hd_inflater *hpack = NULL;
    return nghttp2_hd_inflate_new(&hpack) == 0 ? hpack : NULL;
}

void dlmtest_hpack_free(dlmtest_hpack *hpack) { nghttp2_hd_inflate_del(hpack); }

int dlmtest_hpack_decode(dlmtest_hpack *hpack, const uint8_t *block, size_t count, void *context,
                         void (*field)(void *context, const uint8_t *name, size_t name_length, const uint8_t *value,
                                       size_t value_length)) {
    for (;;) {
        nghttp2_nv found;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(hpack, &found, &flags, block, count, 1);
        if (used < 0) return 0;
        block += used;
        count -= (size_t)used;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) field(context, found.name, found.namelen, found.value, found.valuelen);
        if (flags & NGHTTP2_HD_INFLATE_FINAL) break;
        if (!(flags & NGHTTP2_HD_INFLATE_EMIT) && count == 0) break;
    }
    return nghttp2_hd_inflate_end_headers(hpack) == 0;
}
