#include "kube/auth.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <openssl/crypto.h>

#include "base/file.h"
#include "kube/base64.h"
#include "kube/token.h"

#define CHECK_MS (10 * 1000)
#define READ_MS (60 * 1000)
#define MAX_TOKEN_BYTES ((size_t)64 << 10)

struct kube_auth {
    char *header; /* NULL: none */
    size_t header_len;
    uint64_t generation;
    char *path; /* NULL: the header never changes */
    struct mono_time checked;
    struct mono_time read;
    struct stat seen; /* the file that was read last */
    struct err trouble;
};

static void wipe_free(char *secret, size_t len)
{
    if (secret)
        OPENSSL_cleanse(secret, len);
    free(secret);
}

static void wipe_buf(struct strbuf *buf)
{
    if (buf->ptr)
        OPENSSL_cleanse(buf->ptr, buf->cap);
    strbuf_done(buf);
}

/* Takes over nothing; an unchanged credential is no new generation. */
static void set_header(struct kube_auth *auth, const char *scheme, struct str secret)
{
    CLEANUP(wipe_buf) struct strbuf header = STRBUF_INIT(2 * MAX_TOKEN_BYTES);
    strbuf_addf(&header, "%s ", scheme);
    strbuf_add(&header, secret);
    struct str old = { .ptr = auth->header, .len = auth->header_len };
    if (str_eq(old, strbuf_str(&header)))
        return;
    wipe_free(auth->header, auth->header_len);
    auth->header = str_dup_c(strbuf_str(&header));
    auth->header_len = header.len;
    auth->generation++;
}

static bool read_token(struct kube_auth *auth, struct err *err)
{
    CLEANUP(wipe_buf) struct strbuf text = STRBUF_INIT(MAX_TOKEN_BYTES);
    if (!file_read(auth->path, &text, err))
        return false;
    struct str token = str_trim(strbuf_str(&text));
    if (str_empty(token))
        return err_set(err, ERR_INVALID, "token file %s is empty", auth->path);
    if (!token_is_valid(token))
        return err_set(err, ERR_INVALID, "token file %s holds something else than one token", auth->path);
    set_header(auth, "Bearer", token);
    return true;
}

static void read_file(struct kube_auth *auth, const struct stat *seen, struct mono_time now)
{
    auth->trouble = ERR_INIT;
    auth->read = now;
    auth->seen = *seen;
    if (!read_token(auth, &auth->trouble))
        auth->seen = (struct stat){ 0 }; /* look again at the next check */
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* By path each time: kubelet swaps a symlink (AUT-2). */
static void check_file(struct kube_auth *auth, struct mono_time now, bool force)
{
    auth->checked = now;
    struct stat seen = { 0 };
    bool there = stat(auth->path, &seen) == 0;
    if (!force && there && same_file(&seen, &auth->seen) && mono_ms_between(auth->read, now) < READ_MS)
        return;
    read_file(auth, &seen, now);
}

static void set_basic(struct kube_auth *auth, const struct kube_config *config)
{
    CLEANUP(wipe_buf) struct strbuf pair = STRBUF_INIT(MAX_TOKEN_BYTES);
    CLEANUP(wipe_buf) struct strbuf encoded = STRBUF_INIT(2 * MAX_TOKEN_BYTES);
    strbuf_addf(&pair, STR_FMT ":" STR_FMT, STR_ARG(config->username), STR_ARG(config->password));
    base64_encode(&encoded, strbuf_str(&pair));
    set_header(auth, "Basic", strbuf_str(&encoded));
}

struct kube_auth *kube_auth_new(const struct kube_config *config, struct mono_time now)
{
    struct kube_auth *auth = mem_zalloc(sizeof *auth);
    if (!str_starts_with(config->server, STR("https://")))
        return auth;
    if (!str_empty(config->token))
        set_header(auth, "Bearer", config->token);
    else if (!str_empty(config->username))
        set_basic(auth, config);
    if (!str_empty(config->token_path)) {
        auth->path = str_dup_c(config->token_path);
        check_file(auth, now, true);
    }
    return auth;
}

void kube_auth_free(struct kube_auth *auth)
{
    if (!auth)
        return;
    wipe_free(auth->header, auth->header_len);
    free(auth->path);
    free(auth);
}

struct str kube_auth_header(struct kube_auth *auth, struct mono_time now)
{
    if (auth->path && mono_ms_between(auth->checked, now) >= CHECK_MS)
        check_file(auth, now, false);
    return (struct str){ .ptr = auth->header, .len = auth->header_len };
}

void kube_auth_set_token(struct kube_auth *auth, struct str token)
{
    if (!str_empty(token)) {
        set_header(auth, "Bearer", token);
        return;
    }
    wipe_free(auth->header, auth->header_len);
    auth->header = NULL;
    auth->header_len = 0;
    auth->generation++;
}

uint64_t kube_auth_generation(const struct kube_auth *auth)
{
    return auth->generation;
}

bool kube_auth_refresh(struct kube_auth *auth, uint64_t used, struct mono_time now)
{
    if (auth->path && used == auth->generation)
        check_file(auth, now, true);
    return auth->generation != used;
}

const char *kube_auth_trouble(const struct kube_auth *auth)
{
    return auth->trouble.text;
}
