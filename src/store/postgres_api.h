/* postgres_api.h - libpq's functions, looked up by name: the library is not linked.
 *
 * Members are called as libpq's functions without their prefix: api->getResult(...). */
#ifndef KEEL_STORE_POSTGRES_API_H
#define KEEL_STORE_POSTGRES_API_H

#include "base/err.h"

#include <libpq-fe.h>

#define POSTGRES_API_TABLE(X)                                                                      \
    X(connectdbParams)                                                                             \
    X(finish)                                                                                      \
    X(status)                                                                                      \
    X(socket)                                                                                      \
    X(errorMessage)                                                                                \
    X(setnonblocking)                                                                              \
    X(setNoticeProcessor)                                                                          \
    X(sendQuery)                                                                                   \
    X(sendPrepare)                                                                                 \
    X(sendQueryPrepared)                                                                           \
    X(enterPipelineMode)                                                                           \
    X(exitPipelineMode)                                                                            \
    X(pipelineSync)                                                                                \
    X(flush)                                                                                       \
    X(consumeInput)                                                                                \
    X(isBusy)                                                                                      \
    X(getResult)                                                                                   \
    X(resultStatus)                                                                                \
    X(resultErrorField)                                                                            \
    X(clear)                                                                                       \
    X(ntuples)                                                                                     \
    X(getvalue)                                                                                    \
    X(getlength)

struct postgres_api {
#define X(name) __typeof__(PQ##name) *name;
    POSTGRES_API_TABLE(X)
#undef X
};

MUST_USE struct err *postgres_api_load(struct postgres_api *ret_api);

#endif
