/**
 * The scripts of this folder as Redis gets them, with their SHA1.
 *
 * The definitions are made by CMake from the .lua files.
 */
#ifndef LUA_SCRIPTS_H
#define LUA_SCRIPTS_H

#include "client/redis.h"

extern const struct redis_script lua_grab;
extern const struct redis_script lua_result;
extern const struct redis_script lua_activity;
extern const struct redis_script lua_preload;
extern const struct redis_script lua_relay_read;
extern const struct redis_script lua_relay;
extern const struct redis_script lua_fence;
extern const struct redis_script lua_topup;

#endif
