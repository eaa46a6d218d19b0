// The server side of TLS over memory: what goes over the wire passes through the caller, who may change or cut it.
#ifndef DLM_TLSSERVER_H
#define DLM_TLSSERVER_H

#include <stddef.h>
#include <stdint.h>

/// A certificate and what is negotiated with it; for any number of sessions and threads.
typedef struct ssl_ctx_st dlmtest_tls_context;
/// One connection's TLS; for one thread at a time.
typedef struct ssl_st dlmtest_tls;

/// Serves with a chain in PEM and its key, in TLS versions from `lowest` to `highest` (10 for 1.0, 13 for 1.3; below 1.2
/// at security level 0). `protocols` are the ALPN names in order of preference, each after a byte of its length. Clients
/// without a certificate of their own may be refused. NULL on failure.
dlmtest_tls_context *dlmtest_tls_context_create(const char *chain, const char *key, int lowest, int highest,
                                                const char *protocols, int wants_client_certificate,
                                                const char *client_authority);
void dlmtest_tls_context_free(dlmtest_tls_context *context);

dlmtest_tls *dlmtest_tls_create(dlmtest_tls_context *context);
void dlmtest_tls_free(dlmtest_tls *tls);

/// Goes on with the handshake: 1 when it is done, 0 when it wants more of the peer's bytes, -1 when it failed.
int dlmtest_tls_accept(dlmtest_tls *tls);
/// Takes bytes that came over the wire.
int dlmtest_tls_feed(dlmtest_tls *tls, const void *bytes, size_t count);
/// Gives bytes that are to go over the wire, so many of them; 0 for none.
size_t dlmtest_tls_drain(dlmtest_tls *tls, void *bytes, size_t capacity);
/// Decrypts: the number of bytes, 0 when more must be fed, -1 at the end (close_notify) or an error.
int dlmtest_tls_read(dlmtest_tls *tls, void *bytes, int capacity);
/// Encrypts all of it; false on failure.
int dlmtest_tls_write(dlmtest_tls *tls, const void *bytes, int count);
/// Makes the alert close_notify.
void dlmtest_tls_notify_close(dlmtest_tls *tls);
/// True when ALPN chose HTTP/2.
int dlmtest_tls_speaks_h2(dlmtest_tls *tls);

/// The decoder of header blocks (RFC 7541) that libcurl's HTTP/2 uses, too.
typedef struct nghttp2_hd_inflater dlmtest_hpack;

dlmtest_hpack *dlmtest_hpack_create(void);
void dlmtest_hpack_free(dlmtest_hpack *hpack);
/// Decodes a whole block and calls back with each field; false when the block is malformed.
int dlmtest_hpack_decode(dlmtest_hpack *hpack, const uint8_t *block, size_t count, void *context,
                         void (*field)(void *context, const uint8_t *name, size_t name_length, const uint8_t *value,
                                       size_t value_length));

#endif
