# What happens to Redis in production: by one service or more, and on whole
# stacks.
c_test(stranger integration
  SOURCES integration/test_stranger.c lib/stranger_changes.c ${grab_rig}
  LIBS grab_core)
