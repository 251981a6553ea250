# Tests of rainctl.
foreach(name books plan_file)
  c_test(${name} unit SOURCES unit/test_${name}.c LIBS console_core)
endforeach()
