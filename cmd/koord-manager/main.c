/* koord-manager: read the flags, connect the parts, run the loop. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "kube/core_dump.h"
#include "manager.h"

enum exit_code { EXIT_STOPPED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_CONFIG = 3 };

static void note_ignored(void *self, const char *name, const char *value)
{
    (void)self;
    LOG_INFO("flag has no meaning here and is ignored", LOG_C("flag", name), LOG_C("value", value));
}

static void note_unbuilt_plugins(const struct options *options)
{
    for (int i = 0; i < NODERESOURCE_PLUGIN_COUNT; i++) {
        const struct noderesource_plugin_info *info = &noderesource_plugin_table[i];
        if (options->plugins.active[i] && !info->built)
            LOG_INFO("plugin is not built yet, its resources are left alone", LOG_C("plugin", info->name));
    }
}

static void print(struct strbuf *text)
{
    fwrite(text->ptr, 1, text->len, stdout);
    strbuf_done(text);
}

struct stop_context {
    struct manager *manager;
    int signals;
};

static void on_signal(void *self, int signal)
{
    struct stop_context *context = self;
    if (++context->signals > 1) {
        LOG_WARN("second signal, leaving at once", LOG_I("signal", signal));
        _exit(EXIT_FAILED);
    }
    LOG_INFO("stopping", LOG_I("signal", signal));
    manager_stop(context->manager);
}

static enum exit_code serve(const struct options *options)
{
    struct err err = ERR_INIT;
    CLEANUP(loop_freep) struct loop *loop = loop_new(&err);
    CLEANUP(manager_freep) struct manager *manager = loop ? manager_new(loop, options, &err) : NULL;
    if (!manager) {
        LOG_ERROR("cannot start", LOG_ERR(&err));
        return EXIT_CONFIG;
    }
    struct stop_context context = { .manager = manager };
    if (!loop_on_signal(loop, SIGTERM, on_signal, &context, &err) ||
        !loop_on_signal(loop, SIGINT, on_signal, &context, &err)) {
        LOG_ERROR("cannot start", LOG_ERR(&err));
        return EXIT_FAILED;
    }
    manager_start(manager);
    if (!loop_run(loop, &err)) {
        LOG_ERROR("event loop failed", LOG_ERR(&err));
        return EXIT_FAILED;
    }
    if (manager_lost_lease(manager)) {
        LOG_ERROR("ending, because another manager may lead now");
        return EXIT_FAILED;
    }
    LOG_INFO("stopped");
    return EXIT_STOPPED;
}

int main(int argc, char **argv)
{
    core_dump_off();
    struct options options;
    struct err err = ERR_INIT;
    if (!options_parse(&options, argc, argv, note_ignored, NULL, &err)) {
        fprintf(stderr, "koord-manager: %s\nTry koord-manager --help.\n", err.text);
        return EXIT_USAGE;
    }
    if (options.help) {
        struct strbuf help = STRBUF_INIT(64 * 1024);
        options_help(&help);
        print(&help);
        return EXIT_SUCCESS;
    }
    if (options.version) {
        printf("koord-manager %s\n", KOORD_VERSION);
        return EXIT_SUCCESS;
    }
    log_setup(strcmp(options.logging_format, "json") == 0 ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT,
              options.verbosity >= 4 ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
    note_unbuilt_plugins(&options);
    return (int)serve(&options);
}
