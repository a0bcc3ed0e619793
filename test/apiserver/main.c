/* test-apiserver: a Kubernetes API server for tests and demos. See apiserver.h. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/flags.h"
#include "base/log.h"
#include "test/apiserver/apiserver.h"

struct options {
    bool help;
    bool control;
    bool rbac;
    const char *address;
    int64_t port;
    const char *data;
    const char *crds;
    struct flag_list load;
    const char *request_log;
    const char *token_file;
    const char *tls_cert;
    const char *tls_key;
    const char *client_ca;
    const char *watch_list;
    const char *write_kubeconfig;
    const char *kubeconfig_token;
    int64_t window;
    int64_t bookmark_interval_ns;
};

static const struct flag flags[] = {
    FLAG_BOOL(struct options, help, "help", "print this and exit"),
    FLAG_STR(struct options, address, "address", "IP", "where to listen"),
    FLAG_I64(struct options, port, "port", "PORT", "0 picks a free one"),
    FLAG_STR(struct options, data, "data", "DIR", "keep objects here across restarts"),
    FLAG_STR(struct options, crds, "crds", "DIR", "load the CustomResourceDefinitions of this folder"),
    FLAG_LIST(struct options, load, "load", 'f', "FILE",
              "create the objects of this YAML or JSON file first, if they are not there"),
    FLAG_STR(struct options, write_kubeconfig, "write-kubeconfig", "FILE",
             "write a kubeconfig for this server"),
    FLAG_STR(struct options, kubeconfig_token, "kubeconfig-token", "TOKEN", "bearer token to put into it"),
    FLAG_STR(struct options, token_file, "token-file", "FILE", "lines of token,user,uid,\"group,group\""),
    FLAG_STR(struct options, tls_cert, "tls-cert", "FILE", "serve HTTPS with this certificate (PEM)"),
    FLAG_STR(struct options, tls_key, "tls-key", "FILE", "and this key (PEM)"),
    FLAG_STR(struct options, client_ca, "client-ca", "FILE", "accept client certificates of this CA (PEM)"),
    FLAG_BOOL(struct options, rbac, "rbac", "enforce stored Roles and bindings"),
    FLAG_STR(struct options, watch_list, "watch-list", "on|off|ignore", "how sendInitialEvents is treated"),
    FLAG_I64(struct options, window, "window", "COUNT", "changes remembered per resource"),
    FLAG_DURATION(struct options, bookmark_interval_ns, "bookmark-interval",
                  "how often watches get a bookmark"),
    FLAG_BOOL(struct options, control, "control", "serve /-/control: faults, request log, compaction"),
    FLAG_STR(struct options, request_log, "request-log", "FILE", "append every request as a JSON line"),
};

static bool parse_watch_list(const char *text, enum apiserver_watch_list *ret, struct err *err)
{
    static const char *const names[] = { "on", "off", "ignore" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum apiserver_watch_list)i;
            return true;
        }
    }
    return err_set(err, ERR_INVALID, "--watch-list %s: on, off or ignore", text);
}

static bool read_pem(const char *path, struct strbuf *out, struct err *err)
{
    return !path || file_read(path, out, err) || err_wrap(err, "%s", path);
}

static bool load_files(struct apiserver *server, const struct flag_list *files, struct err *err)
{
    for (size_t i = 0; i < files->count; i++) {
        CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256 * 1024 * 1024);
        if (!file_read(files->items[i], &text, err) ||
            !apiserver_load_missing(server, strbuf_str(&text), err))
            return err_wrap(err, "%s", files->items[i]);
    }
    return true;
}

/* The CA is the certificate itself: what tests use is self-signed, or names its issuer
 * in the same file. */
static bool write_kubeconfig(const struct options *options, int port, struct err *err)
{
    const char *scheme = options->tls_cert ? "https" : "http";
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64 * 1024);
    char *ca = options->tls_cert ? realpath(options->tls_cert, NULL) : NULL;
    strbuf_addf(&text,
                "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
                "contexts:\n- name: test\n  context: {cluster: test, user: test}\n"
                "clusters:\n- name: test\n  cluster:\n    server: %s://%s:%d\n",
                scheme, options->address, port);
    if (ca)
        strbuf_addf(&text, "    certificate-authority: %s\n", ca);
    strbuf_addf(
        &text, "users:\n- name: test\n  user: %s%s%s\n", options->kubeconfig_token ? "{token: " : "{}",
        options->kubeconfig_token ? options->kubeconfig_token : "", options->kubeconfig_token ? "}" : "");
    free(ca);
    FILE *file = fopen(options->write_kubeconfig, "w");
    if (!file)
        return err_errno(err, "create %s", options->write_kubeconfig);
    bool written = fwrite(text.ptr, 1, text.len, file) == text.len;
    if (fclose(file) != 0 || !written)
        return err_errno(err, "write %s", options->write_kubeconfig);
    return true;
}

static void on_signal(void *self, int signal)
{
    (void)signal;
    loop_stop(self);
}

static bool serve(struct loop *loop, struct apiserver *server, const struct options *options, struct err *err)
{
    if (!loop_on_signal(loop, SIGTERM, on_signal, loop, err) ||
        !loop_on_signal(loop, SIGINT, on_signal, loop, err) || !load_files(server, &options->load, err) ||
        (options->write_kubeconfig && !write_kubeconfig(options, apiserver_port(server), err)))
        return false;
    printf("listening on %s://%s:%d\n", options->tls_cert ? "https" : "http", options->address,
           apiserver_port(server));
    fflush(stdout);
    return loop_run(loop, err);
}

static void stop(void *self)
{
    loop_stop(self);
}

/* libevent lets go of closed connections in its next turn only. */
static bool last_turn(struct loop *loop, struct err *err)
{
    struct loop_timer timer = { 0 };
    loop_timer_init(&timer, loop, stop, loop);
    loop_timer_set(&timer, 0);
    bool ok = loop_run(loop, err);
    loop_timer_done(&timer);
    return ok;
}

static bool start(const struct options *options, struct err *err)
{
    CLEANUP(strbuf_done) struct strbuf cert = STRBUF_INIT(1024 * 1024);
    CLEANUP(strbuf_done) struct strbuf key = STRBUF_INIT(1024 * 1024);
    CLEANUP(strbuf_done) struct strbuf ca = STRBUF_INIT(1024 * 1024);
    char address[300];
    struct apiserver_options server_options = {
        .address = address,
        .data_dir = options->data,
        .crds_dir = options->crds,
        .request_log = options->request_log,
        .token_file = options->token_file,
        .rbac = options->rbac,
        .control = options->control,
        .window = (size_t)options->window,
        .bookmark_interval_ms = options->bookmark_interval_ns / NS_PER_MS,
    };
    snprintf(address, sizeof address, "%s:%d", options->address, (int)options->port);
    if (!parse_watch_list(options->watch_list, &server_options.watch_list, err) ||
        !read_pem(options->tls_cert, &cert, err) || !read_pem(options->tls_key, &key, err) ||
        !read_pem(options->client_ca, &ca, err))
        return false;
    server_options.tls_cert_pem = strbuf_str(&cert);
    server_options.tls_key_pem = strbuf_str(&key);
    server_options.client_ca_pem = strbuf_str(&ca);

    CLEANUP(loop_freep) struct loop *loop = loop_new(err);
    if (!loop)
        return false;
    struct apiserver *server = apiserver_new(loop, &server_options, err);
    bool ok = server && serve(loop, server, options, err);
    apiserver_free(server);
    return last_turn(loop, ok ? err : NULL) && ok;
}

static void print_help(const struct options *defaults)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64 * 1024);
    flags_help(&text, flags, ARRAY_LEN(flags), defaults);
    printf("test-apiserver: a Kubernetes API server for tests and demos\n\n%s", strbuf_cstr(&text));
}

static bool run(int argc, char **argv, struct err *err)
{
    struct options options = { .address = "127.0.0.1",
                               .watch_list = "on",
                               .bookmark_interval_ns = 60 * NS_PER_S };
    const struct options defaults = options;
    bool ok = flags_parse(flags, ARRAY_LEN(flags), argc, argv, &options, NULL, err);
    if (ok && options.help)
        print_help(&defaults);
    else
        ok = ok && start(&options, err);
    flag_list_done(&options.load);
    return ok;
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    signal(SIGPIPE, SIG_IGN);
    log_setup(LOG_FORMAT_TEXT, LOG_LEVEL_INFO);
    if (run(argc, argv, &err))
        return EXIT_SUCCESS;
    fprintf(stderr, "test-apiserver: %s\n", err.text);
    return EXIT_FAILURE;
}
