# More than the system can do; stops and reloads under load.
c_test(pace unit SOURCES unit/test_pace.c LIBS grab_core)
c_test(grab_silent integration
  SOURCES integration/test_grab_silent.c ${grab_rig} LIBS grab_core)
