// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions of libpq that outrider calls. libpq is loaded at the first call of such a function (hv/base/library.h). */
#include <libpq-fe.h>

#include "hv/base/library.h"

static const struct library libpq = {"libpq.so.5", "libpq5"};

LIBRARY_CALL(libpq, int, PQlibVersion, (void))

LIBRARY_CALL(libpq, PGconn *, PQconnectdb, (const char *info), info)
LIBRARY_CALL(libpq, PGconn *, PQconnectdbParams, (const char *const *words, const char *const *values, int expand), words,
	     values, expand)
LIBRARY_CALL(libpq, PGPing, PQping, (const char *info), info)
LIBRARY_CALL(libpq, void, PQreset, (PGconn * c), c)
LIBRARY_CALL(libpq, int, PQresetStart, (PGconn * c), c)
LIBRARY_CALL(libpq, PostgresPollingStatusType, PQresetPoll, (PGconn * c), c)
LIBRARY_CALL(libpq, void, PQfinish, (PGconn * c), c)
LIBRARY_CALL(libpq, ConnStatusType, PQstatus, (const PGconn *c), c)
LIBRARY_CALL(libpq, char *, PQerrorMessage, (const PGconn *c), c)
LIBRARY_CALL(libpq, int, PQsocket, (const PGconn *c), c)
LIBRARY_CALL(libpq, PQnoticeProcessor, PQsetNoticeProcessor, (PGconn * c, PQnoticeProcessor processor, void *ctx), c, processor,
	     ctx)

LIBRARY_CALL(libpq, PGresult *, PQexec, (PGconn * c, const char *sql), c, sql)
LIBRARY_CALL(libpq, PGresult *, PQprepare, (PGconn * c, const char *name, const char *sql, int n, const Oid *types), c, name,
	     sql, n, types)
LIBRARY_CALL(libpq, PGresult *, PQexecPrepared,
	     (PGconn * c, const char *name, int n, const char *const *values, const int *lengths, const int *formats,
	      int format),
	     c, name, n, values, lengths, formats, format)
LIBRARY_CALL(libpq, int, PQsendQueryPrepared,
	     (PGconn * c, const char *name, int n, const char *const *values, const int *lengths, const int *formats,
	      int format),
	     c, name, n, values, lengths, formats, format)
LIBRARY_CALL(libpq, PGresult *, PQgetResult, (PGconn * c), c)
LIBRARY_CALL(libpq, int, PQenterPipelineMode, (PGconn * c), c)
LIBRARY_CALL(libpq, int, PQexitPipelineMode, (PGconn * c), c)
LIBRARY_CALL(libpq, int, PQpipelineSync, (PGconn * c), c)

LIBRARY_CALL(libpq, ExecStatusType, PQresultStatus, (const PGresult *r), r)
LIBRARY_CALL(libpq, char *, PQresultErrorMessage, (const PGresult *r), r)
LIBRARY_CALL(libpq, char *, PQresultErrorField, (const PGresult *r, int field), r, field)
LIBRARY_CALL(libpq, char *, PQcmdStatus, (PGresult * r), r)
LIBRARY_CALL(libpq, char *, PQcmdTuples, (PGresult * r), r)
LIBRARY_CALL(libpq, int, PQntuples, (const PGresult *r), r)
LIBRARY_CALL(libpq, int, PQnfields, (const PGresult *r), r)
LIBRARY_CALL(libpq, Oid, PQftype, (const PGresult *r, int column), r, column)
LIBRARY_CALL(libpq, char *, PQgetvalue, (const PGresult *r, int row, int column), r, row, column)
LIBRARY_CALL(libpq, int, PQgetlength, (const PGresult *r, int row, int column), r, row, column)
LIBRARY_CALL(libpq, int, PQgetisnull, (const PGresult *r, int row, int column), r, row, column)
LIBRARY_CALL(libpq, void, PQclear, (PGresult * r), r)
LIBRARY_CALL(libpq, unsigned char *, PQunescapeBytea, (const unsigned char *text, size_t *length), text, length)
LIBRARY_CALL(libpq, void, PQfreemem, (void *memory), memory)
