# The texts, the allocation and the plan; ActivityService on a real Redis.
foreach(name claim allocate plan)
  c_test(${name} unit SOURCES unit/test_${name}.c LIBS grab_core)
endforeach()
