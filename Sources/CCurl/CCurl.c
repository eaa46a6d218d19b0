#define _GNU_SOURCE
#include "CCurl.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

// Returns libcurl's version as 0xXXYYZZ, cached because `curl_version_info` builds its whole description on each call.
static unsigned int dlm_curl_version(void) {
    static _Atomic unsigned int version;
    unsigned int known = version;
    if (!known) version = known = curl_version_info(CURLVERSION_NOW)->version_num;
    return known;
}

// One mutex for each kind of shared data. All shares use the same mutexes.
static pthread_mutex_t share_mutexes[CURL_LOCK_DATA_LAST] = {
    [0 ... CURL_LOCK_DATA_LAST - 1] = PTHREAD_MUTEX_INITIALIZER};

static void lock_share(CURL *easy, curl_lock_data data, curl_lock_access access, void *context) {
    (void)easy, (void)access, (void)context;
    pthread_mutex_lock(&share_mutexes[data]);
}

static void unlock_share(CURL *easy, curl_lock_data data, void *context) {
    (void)easy, (void)context;
    pthread_mutex_unlock(&share_mutexes[data]);
}

CURLSH *dlm_share_create(int shares_dns) {
    CURLSH *share = curl_share_init();
    if (!share) return NULL;
    if (curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock_share) != CURLSHE_OK ||
        curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock_share) != CURLSHE_OK) {
        curl_share_cleanup(share);
        return NULL;
    }
    // A libcurl that was built without one of these features returns CURLSHE_NOT_BUILT_IN. The error is ignored,
    // because only the sharing is lost.
    if (shares_dns) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_PSL);
    return share;
}

CURLcode dlm_set_http_version(CURL *easy, enum dlm_http_version version) {
    if (version == DLM_HTTP_3) {
        CURLcode code = curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_3);
        return code == CURLE_UNSUPPORTED_PROTOCOL ? CURLE_NOT_BUILT_IN : code;
    }
    long value = version == DLM_HTTP_2_OVER_TLS ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, value);
    // A libcurl that was built without HTTP/2 rejects the option, so HTTP/1.1 is set instead.
    if (code != CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    return code;
}

const char *dlm_http_version_used(CURL *easy) {
    long version = 0;
    if (curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version) != CURLE_OK) return "";
    switch (version) {
    case CURL_HTTP_VERSION_1_0: return "1.0";
    case CURL_HTTP_VERSION_1_1: return "1.1";
    case CURL_HTTP_VERSION_2_0: return "2";
    case CURL_HTTP_VERSION_3: return "3";
    default: return "";
    }
}

CURLcode dlm_restrict_protocols(CURL *easy, const char *other) {
    CURLcode code = CURLE_UNKNOWN_OPTION;
#if LIBCURL_VERSION_NUM >= 0x075500
    code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, other ? other : "http,https");
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#endif
    // The libcurl of this machine may be older than the one for which the program was built.
    if (code != CURLE_UNKNOWN_OPTION) return code;
    long web = CURLPROTO_HTTP | CURLPROTO_HTTPS, files = CURLPROTO_FTP | CURLPROTO_FTPS | CURLPROTO_SFTP | CURLPROTO_SCP;
    code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS, other ? files : web);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, web);
    return code;
}

CURLcode dlm_prepare_ftp(CURL *easy, int encryption) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_FTP_FILEMETHOD, (long)CURLFTPMETHOD_NOCWD);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_FTP_SKIP_PASV_IP, 1L);
    if (code != CURLE_OK || !encryption) return code;
    return curl_easy_setopt(easy, CURLOPT_USE_SSL, encryption == 1 ? (long)CURLUSESSL_TRY : (long)CURLUSESSL_ALL);
}

CURLcode dlm_log_in(CURL *easy, const char *user, const char *password) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_USERNAME, user);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PASSWORD, password);
    return code;
}

// The callback is global, because a handle has one context pointer for its callback, and the transfer needs that
// pointer.
static _Atomic(dlm_host_key_callback) judge_host_key;

static int on_host_key(CURL *easy, const struct curl_khkey *known, const struct curl_khkey *found,
                       enum curl_khmatch match, void *context) {
    (void)easy, (void)known;
    enum dlm_host_key key = match == CURLKHMATCH_OK         ? DLM_HOST_KEY_KNOWN
                            : match == CURLKHMATCH_MISMATCH ? DLM_HOST_KEY_CHANGED
                                                            : DLM_HOST_KEY_UNKNOWN;
    // A key without a length is base64 text. Such a key is not passed on.
    size_t length = found && found->key ? found->len : 0;
    return judge_host_key(context, key, length ? found->key : NULL, length) ? CURLKHSTAT_FINE : CURLKHSTAT_REJECT;
}

CURLcode dlm_check_host_key(CURL *easy, const char *known_hosts, dlm_host_key_callback judge, void *context) {
    judge_host_key = judge;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSH_KNOWNHOSTS, known_hosts);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SSH_KEYFUNCTION, on_host_key);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SSH_KEYDATA, context);
    return code;
}

CURLcode dlm_use_ssh_authentication(CURL *easy, const char *key, int uses_agent, int has_password) {
    long types = uses_agent ? CURLSSH_AUTH_AGENT : CURLSSH_AUTH_NONE;
    if (key) types |= CURLSSH_AUTH_PUBLICKEY;
    if (has_password) types |= CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSH_AUTH_TYPES, types);
    if (code == CURLE_OK && key) code = curl_easy_setopt(easy, CURLOPT_SSH_PRIVATE_KEYFILE, key);
    return code;
}

CURLcode dlm_require_modern_tls(CURL *easy, int only13) {
    return curl_easy_setopt(easy, CURLOPT_SSLVERSION,
                            only13 ? (long)CURL_SSLVERSION_TLSv1_3 : (long)CURL_SSLVERSION_TLSv1_2);
}

CURLcode dlm_use_authentication(CURL *easy, enum dlm_authentication kind, const char *user, const char *password) {
    long types = CURLAUTH_BASIC;
    switch (kind) {
    case DLM_BASIC: break;
    case DLM_DIGEST: types = CURLAUTH_DIGEST; break;
    case DLM_NTLM: types = CURLAUTH_NTLM; break;
    case DLM_NEGOTIATE: types = CURLAUTH_NEGOTIATE; break;
    // With a user name, Negotiate is left out of the schemes. libcurl prefers Negotiate, which works only with a
    // Kerberos ticket, and tries no other scheme when there is no ticket.
    case DLM_ANY_AUTHENTICATION: types = (long)(*user ? CURLAUTH_ANY & ~CURLAUTH_NEGOTIATE : CURLAUTH_ANY); break;
    }
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HTTPAUTH, types);
    return code == CURLE_OK ? dlm_log_in(easy, user, password) : code;
}

CURLcode dlm_use_proxy_authentication(CURL *easy, const char *user, const char *password) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, user);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PROXYPASSWORD, password);
    return code;
}

CURLcode dlm_restrict_addresses(CURL *easy, int family) {
    return curl_easy_setopt(easy, CURLOPT_IPRESOLVE, family == 4 ? (long)CURL_IPRESOLVE_V4 : (long)CURL_IPRESOLVE_V6);
}

CURLcode dlm_set_body(CURL *easy, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, count ? bytes : "");
    return code;
}

CURLcode dlm_trust_authorities(CURL *easy, const char *file, const char *folder) {
    CURLcode code = CURLE_OK;
    if (file) code = curl_easy_setopt(easy, CURLOPT_CAINFO, file);
    if (code == CURLE_OK && folder) return curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
    // Before libcurl 8.17, NULL turns the built-in folder off. Since 8.17, NULL means the built-in folder, so setting
    // NULL would change nothing.
    if (code == CURLE_OK && dlm_curl_version() < 0x081100) code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    return code;
}

CURLcode dlm_trust_only(CURL *easy, const char *file) {
    // Since libcurl 8.17, NULL means the built-in folder. /dev/null stands for a folder without certificates.
    return dlm_trust_authorities(easy, file, dlm_curl_version() < 0x081100 ? NULL : "/dev/null");
}

void *dlm_openssl_session(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

CURLcode dlm_do_not_wait_for_resolver(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    // libcurl before 7.87 does not know the option. Asking for its version would cost more than trying: 0.5 MB of pages of
    // the libraries that `curl_version_info` asks.
    CURLcode code = curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    return code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
#else
    (void)easy;
    return CURLE_OK;
#endif
}

int dlm_environment_has_proxy(void) {
    static const char end[] = "_proxy=";
    const size_t length = sizeof end - 1;
    for (char **entry = environ; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals && equals + 1 - *entry >= (ptrdiff_t)length && !strncasecmp(equals + 1 - length, end, length)) return 1;
    }
    return 0;
}

char *dlm_resolve_url(const char *base, const char *location) {
    char *result = NULL;
    CURLU *url = curl_url();
    if (!url) return NULL;
    unsigned int flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE;
#if LIBCURL_VERSION_NUM >= 0x074e00
    flags |= CURLU_ALLOW_SPACE;
#endif
    if (curl_url_set(url, CURLUPART_URL, base, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
        curl_url_set(url, CURLUPART_URL, location, flags) == CURLUE_OK)
        dlm_url_text(url, &result);
    curl_url_cleanup(url);
    return result;
}
