# Tests of this area, see CMakeLists.txt here.
c_test(dubbo_codec unit SOURCES unit/test_dubbo_codec.c lib/vectors.c LIBS net)
c_test(dubbo_server component
  SOURCES component/test_dubbo_server.c lib/dubbo_peer.c lib/turns.c
          lib/vectors.c
  LIBS net)
c_test(dubbo_client component
  SOURCES component/test_dubbo_client.c lib/dubbo_peer.c lib/turns.c
          lib/vectors.c
  LIBS client)
