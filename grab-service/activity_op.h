/**
 * One request to ActivityService, from its bytes to its one reply. Shared by
 * the activity_*.c files.
 */
#ifndef GRAB_ACTIVITY_OP_H
#define GRAB_ACTIVITY_OP_H

#include "activity_service.h"
#include "activity_view.h"
#include "step.h"

struct activity_job;

struct activity_service {
	struct activity_deps deps;
	struct dubbo_interface interface;
	struct activity_job *jobs; /* uthash, by id */
	size_t ops;                /* requests not yet answered */
	bool stopping;
	bool freed; /* wanted; happens with the last request */
};

enum { OP_MESSAGE_MAX = 512, OP_ARGUMENT_MAX = 64 * 1024 };

struct activity_op;

/* Whether view shows that a change was made, for one whose reply was lost. */
typedef bool (*op_is_done)(const struct activity_op *op,
			   const struct activity_view *view);

/* Embedded first in whatever a request needs more: one block of memory. */
struct activity_op {
	struct activity_service *svc;
	struct dubbo_call *call;
	char id[ID_MAX + 1];
	Rain__Outcome outcome; /* of the reply, set by op_finish() */
	char message[OP_MESSAGE_MAX];
	struct activity_op *next; /* in the list of a job */
	const char *operation;    /* of op_change() */
	op_is_done is_done;
};

/** A request of size bytes, zeroed behind the op, without an id yet. */
void *op_new(struct activity_service *svc, struct dubbo_call *call,
	     size_t size);

/** The same for an ActivityRequest. NULL if that was answered already, because
 * it is malformed or its id is. */
void *op_for_activity(struct activity_service *svc, struct dubbo_call *call,
		      struct bytes argument, size_t size);

/** Answer a call whose argument is no message. */
void op_malformed(struct dubbo_call *call);

/** The id as a view; valid as long as op. */
struct bytes op_id(const struct activity_op *op);

/** How long a step may take: until the caller stops waiting, within bounds. */
uint64_t op_timeout(const struct activity_op *op);

/** Run a step for this request. */
void op_step(struct activity_op *op, const struct redis_script *script,
	     size_t argc, const struct bytes *argv, step_cb done, void *ctx);

/** activity_change.c: run a step of lua/activity.lua, log how it ended and
 * answer. When its reply is lost, is_done() decides whether it was made. */
void op_change(struct activity_op *op, op_is_done is_done, size_t argc,
	       const struct bytes *argv, const char *operation);

/** Answer with an ActivityReply, with the activity as it stands then. Frees
 * op. */
void printf_like(3, 4) op_finish(struct activity_op *op, Rain__Outcome outcome,
				 const char *fmt, ...);
/** The same with a view that was read already; NULL: no activity. */
void printf_like(4, 5)
	op_reply(struct activity_op *op, const struct activity_view *view,
		 Rain__Outcome outcome, const char *fmt, ...);

/** Answered by other means: free op. */
void op_end(struct activity_op *op);

/** What a code of a step means to an operator; the sentence of the step, if it
 * has one, else one of ours, is written to message. */
Rain__Outcome op_outcome(const struct step_reply *reply,
			 char message[OP_MESSAGE_MAX]);

/** Say that an operation is not possible in a state, and what is. */
void op_wrong_state(const char *operation, int state,
		    char message[OP_MESSAGE_MAX]);

/** The outcome when no reply came, and a sentence. */
Rain__Outcome op_failure(enum redis_outcome outcome, struct bytes error,
			 char message[OP_MESSAGE_MAX]);

/** How a change ended: for the log and, if it is done, for whoever cares. */
void op_told(struct activity_service *svc, struct bytes activity_id,
	     const char *operation, Rain__Outcome outcome, const char *message);

/** activity_create.c: the id of the first of so many packets: 19 digits, with
 * room for all of them in 63 bits. */
uint64_t activity_random_base(uint64_t count);

/* The handlers, by file; all are dubbo_method_cb with the service as ctx. */
void activity_create(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_preload(void *ctx, struct dubbo_call *call,
		      struct bytes argument);
void activity_open(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_pause(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_resume(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_close(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_cancel(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_entropy(void *ctx, struct dubbo_call *call,
		      struct bytes argument);
void activity_topup(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_rewind(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_get(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_list(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_counters(void *ctx, struct dubbo_call *call,
		       struct bytes argument);
void activity_claims(void *ctx, struct dubbo_call *call, struct bytes argument);
void activity_packets(void *ctx, struct dubbo_call *call,
		      struct bytes argument);

#endif
