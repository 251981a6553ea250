/**
 * The Dubbo2 protocol with protobuf serialization (id 22), bytes only.
 *
 *    0  2  magic da bb
 *    2  1  0x80 request, 0x40 two-way, 0x20 event, low 5 bits serialization id
 *    3  1  status, of responses
 *    4  8  request id
 *   12  4  length of the body
 *
 * A body is a row of protobuf messages, each with a varint length in front.
 * Source: Apache Dubbo's ExchangeCodec, DubboCodec and
 * GenericProtobufSerialization; checked byte by byte against captures of
 * Dubbo 2.7.23 and 3.3 (tests/unit/dubbo_vectors).
 */
#ifndef NET_DUBBO_CODEC_H
#define NET_DUBBO_CODEC_H

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"

enum {
	DUBBO_HEADER = 16,
	DUBBO_PAYLOAD_MAX = 8 * 1024 * 1024, /* Dubbo's default */
	DUBBO_PROTOBUF = 22,
	DUBBO_ATTACHMENTS_MAX = 32, /* kept of one request */
};

enum dubbo_status {
	DUBBO_STATUS_OK = 20,
	DUBBO_STATUS_SERIALIZATION_ERROR = 25,
	DUBBO_STATUS_CLIENT_TIMEOUT = 30,
	DUBBO_STATUS_SERVER_TIMEOUT = 31,
	DUBBO_STATUS_CHANNEL_INACTIVE = 35,
	DUBBO_STATUS_BAD_REQUEST = 40,
	DUBBO_STATUS_BAD_RESPONSE = 50,
	DUBBO_STATUS_SERVICE_NOT_FOUND = 60,
	DUBBO_STATUS_SERVICE_ERROR = 70,
	DUBBO_STATUS_SERVER_ERROR = 80,
	DUBBO_STATUS_CLIENT_ERROR = 90,
	DUBBO_STATUS_THREADPOOL_EXHAUSTED = 100,
};

struct dubbo_header {
	bool request;
	bool two_way;
	bool event;
	uint8_t serialization;
	uint8_t status;
	uint64_t id;
	uint32_t length; /* of the body; as on the wire, unchecked */
};

/** False if the magic is wrong. p has DUBBO_HEADER bytes. */
must_check bool dubbo_header_decode(const uint8_t *p, struct dubbo_header *h);
void dubbo_header_encode(const struct dubbo_header *h, uint8_t *p);

struct dubbo_attachment {
	struct bytes key;
	struct bytes value;
};

/* A request without its header. Decoded: views into the frame. */
struct dubbo_request {
	struct bytes protocol; /* "2.0.2" */
	struct bytes path;     /* interface, "rain.GrabService" */
	struct bytes version;  /* "1.0.0" */
	struct bytes method;
	struct bytes types;    /* "Lrain/GrabRequest;" */
	struct bytes argument; /* the protobuf message */
	size_t attachment_count;
	struct dubbo_attachment attachments[DUBBO_ATTACHMENTS_MAX];
};

/** 0, or ERR_PROTO with *why saying what is wrong (static text). */
must_check int dubbo_request_decode(struct bytes body, struct dubbo_request *r,
				    const char **why);
/** The value of an attachment, or an empty view with p NULL. */
struct bytes dubbo_request_attachment(const struct dubbo_request *r,
				      const char *key);

/** Append a whole request frame; argument is packed in place. */
void dubbo_request_encode(struct buf *out, uint64_t id, bool two_way,
			  const struct dubbo_request *r,
			  const ProtobufCMessage *argument);

enum dubbo_result_kind {
	DUBBO_VALUE,
	DUBBO_NULL,
	DUBBO_EXCEPTION,
	DUBBO_ERROR, /* a status that is not OK; message has its text */
};

/* A response without its header. Decoded: views into the frame. */
struct dubbo_result {
	enum dubbo_result_kind kind;
	uint8_t status;          /* enum dubbo_status, or what the peer sent */
	struct bytes value;      /* DUBBO_VALUE: the protobuf message */
	struct bytes class_name; /* DUBBO_EXCEPTION: its Java class */
	struct bytes message;    /* DUBBO_EXCEPTION, DUBBO_ERROR */
};

/** Decode the body of a response with this status. 0, or ERR_PROTO with *why
 * saying what is wrong (static text). Any status but OK decodes. */
must_check int dubbo_result_decode(uint8_t status, struct bytes body,
				   struct dubbo_result *r, const char **why);

/** Append whole response frames. with_attachments: the request's protocol
 * version was 2.0.2 to 2.0.99. message NULL is Java's null. An error is
 * written in the serialization of the request, as far as text goes. */
void dubbo_reply_value(struct buf *out, uint64_t id, bool with_attachments,
		       const ProtobufCMessage *message);
void dubbo_reply_exception(struct buf *out, uint64_t id, bool with_attachments,
			   struct bytes class_name, struct bytes message);
void dubbo_reply_error(struct buf *out, uint64_t id, uint8_t serialization,
		       enum dubbo_status status, struct bytes message);

/** Events: a heartbeat of ours, the answer to one (body echoed), READONLY. */
void dubbo_heartbeat(struct buf *out, uint64_t id);
void dubbo_heartbeat_reply(struct buf *out, const struct dubbo_header *h,
			   struct bytes body);
void dubbo_readonly(struct buf *out, uint64_t id);
/** Whether the body of an event says READONLY, in any serialization. */
bool dubbo_event_readonly(struct bytes body);
/** Whether it says WRITEABLE, which takes READONLY back (Dubbo 3.3). */
bool dubbo_event_writeable(struct bytes body);

/** Whether responses to this protocol version carry attachments. */
bool dubbo_version_has_attachments(struct bytes protocol);

#endif
