# Tests of this area, see CMakeLists.txt here. Those of the worker find their
# broker by the environment variable KAFKA_BOOTSTRAP.
foreach(name decisions event gaps)
  c_test(settle_${name} unit SOURCES unit/test_settle_${name}.c
    LIBS settle_core)
endforeach()
foreach(name audit cases durable group kept property read refused)
  c_test(ledger_${name} integration
    SOURCES integration/test_ledger_${name}.c lib/ledger_fixture.c
    LIBS settle_core)
endforeach()
c_test(worker_kafka integration
  SOURCES integration/test_worker_kafka.c lib/worker_rig.c
          lib/ledger_fixture.c lib/kafka_broker.c lib/turns.c
  LIBS settle_core)
c_test(worker_service integration
  SOURCES integration/test_worker_service.c lib/ledger_fixture.c lib/turns.c
  LIBS settle_core)
c_test(worker_watch integration
  SOURCES integration/test_worker_watch.c lib/ledger_fixture.c lib/turns.c
  LIBS settle_core)
c_test(ledger_docs integration
  SOURCES integration/test_ledger_docs.c lib/ledger_fixture.c
  LIBS settle_core)
c_test(worker_process integration
  SOURCES integration/test_worker_process.c lib/ledger_fixture.c
          lib/kafka_broker.c lib/process.c
  LIBS settle_core)
add_dependencies(test_integration_worker_process settle-worker)
