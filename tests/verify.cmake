# What was given away can be recomputed by others: tests/verify is such a
# program, written from docs/fairness.md, and both read the same vectors.
c_test(allocate_vectors unit SOURCES unit/test_allocate_vectors.c LIBS plan)
add_test(NAME verify.selftest COMMAND ${PYTHON3} -B -m unittest discover
  -s ${PROJECT_SOURCE_DIR}/tests/verify)
set_tests_properties(verify.selftest PROPERTIES LABELS unit TIMEOUT 120)
