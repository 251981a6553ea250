# lib/client/kafka*. The integration tests find their broker by the environment
# variable KAFKA_BOOTSTRAP.
foreach(name topics conf)
  c_test(kafka_${name} unit SOURCES unit/test_kafka_${name}.c LIBS client)
endforeach()
c_test(kafka_job component SOURCES component/test_kafka_job.c lib/turns.c
  LIBS client)
c_test(kafka_producer integration
  SOURCES integration/test_kafka_producer.c lib/kafka_broker.c lib/turns.c
  LIBS client)
foreach(name consumer group)
  c_test(kafka_${name} integration
    SOURCES integration/test_kafka_${name}.c lib/kafka_broker.c
            lib/kafka_member.c lib/turns.c
    LIBS client)
endforeach()
c_test(kafka_outage integration
  SOURCES integration/test_kafka_outage.c lib/kafka_broker.c lib/kafka_own.c
          lib/turns.c
  LIBS client)
