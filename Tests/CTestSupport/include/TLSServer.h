// The server side of TLS over memory. The bytes on the wire pass through the caller, who may change or cut them.
#ifndef DLM_TLSSERVER_H
#define DLM_TLSSERVER_H

#include <stddef.h>
#include <stdint.h>

/// A certificate, with the versions and protocols that the server offers, for any number of sessions and threads.
typedef struct ssl_ctx_st dlmtest_tls_context;
/// The TLS state of one connection, for one thread at a time.
typedef struct ssl_st dlmtest_tls;

/// Creates a context that serves with a chain in PEM and its key. The TLS versions are `lowest` to `highest` (10 for
/// 1.0, 13 for 1.3). Versions below 1.2 use security level 0. `protocols` are the ALPN names in order of preference,
/// each after a byte of its length. Clients without a certificate of their own may be refused. Returns NULL on failure.
dlmtest_tls_context *dlmtest_tls_context_create(const char *chain, const char *key, int lowest, int highest,
                                                const char *protocols, int wants_client_certificate,
                                                const char *client_authority);
void dlmtest_tls_context_free(dlmtest_tls_context *context);

dlmtest_tls *dlmtest_tls_create(dlmtest_tls_context *context);
void dlmtest_tls_free(dlmtest_tls *tls);

/// Continues the handshake. Returns 1 if it is done, 0 if it needs more bytes of the peer, -1 if it failed.
int dlmtest_tls_accept(dlmtest_tls *tls);
/// Takes bytes that came over the wire.
int dlmtest_tls_feed(dlmtest_tls *tls, const void *bytes, size_t count);
/// Returns the number of bytes that are to go over the wire, and copies them to `bytes`. Returns 0 if there are none.
size_t dlmtest_tls_drain(dlmtest_tls *tls, void *bytes, size_t capacity);
/// Decrypts. Returns the number of bytes, 0 if more bytes must be fed, -1 at the end (close_notify) or at an error.
int dlmtest_tls_read(dlmtest_tls *tls, void *bytes, int capacity);
/// Encrypts all bytes. Returns false on failure.
int dlmtest_tls_write(dlmtest_tls *tls, const void *bytes, int count);
/// Creates the alert close_notify.
void dlmtest_tls_notify_close(dlmtest_tls *tls);
/// Returns true if ALPN chose HTTP/2.
int dlmtest_tls_speaks_h2(dlmtest_tls *tls);

/// The decoder of header blocks (RFC 7541) that libcurl's HTTP/2 uses, too.
typedef struct nghttp2_hd_inflater dlmtest_hpack;

dlmtest_hpack *dlmtest_hpack_create(void);
void dlmtest_hpack_free(dlmtest_hpack *hpack);
/// Decodes a whole block and calls back with each field. Returns false if the block is malformed.
int dlmtest_hpack_decode(dlmtest_hpack *hpack, const uint8_t *block, size_t count, void *context,
                         void (*field)(void *context, const uint8_t *name, size_t name_length, const uint8_t *value,
                                       size_t value_length));

#endif
