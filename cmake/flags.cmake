# One interface target carries every compile decision of our own code.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
# uv.h needs this under a strict -std=c11.
add_compile_definitions(_GNU_SOURCE=1)

add_library(build_flags INTERFACE)
target_compile_options(build_flags INTERFACE
  -Wall -Wextra -Wpedantic
  -Wshadow -Wconversion -Wsign-conversion
  -Wstrict-prototypes -Wold-style-definition -Wmissing-prototypes
  -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla
  -Wformat=2 -Wdouble-promotion
  -fno-common -fno-omit-frame-pointer
  # A text cut by snprintf is cut on purpose; whether gcc suspects it depends
  # on what it inlined.
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
  $<$<C_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches>
  # clang does not read the comments that uthash's macros fall through with,
  # minds those of librdkafka, and check(!"this cannot be").
  $<$<C_COMPILER_ID:GNU>:-Wimplicit-fallthrough>
  $<$<C_COMPILER_ID:Clang>:-Wno-gnu-statement-expression>
  $<$<C_COMPILER_ID:Clang>:-Wno-string-conversion>
  $<$<BOOL:${WERROR}>:-Werror>)
if(SANITIZE)
  # For generated code too: one program, one runtime.
  add_compile_options(-fsanitize=${SANITIZE} -fno-sanitize-recover=all
                      -fno-optimize-sibling-calls)
  add_link_options(-fsanitize=${SANITIZE})
endif()
if(SANITIZE MATCHES "thread")
  # Locks of libraries that gcc's runtime does not know; see the file.
  target_sources(build_flags INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${PROJECT_SOURCE_DIR}/tests/sanitize/threads_shim.c>)
endif()
if(FUZZ)
  # libFuzzer learns from the branches that our own code takes.
  target_compile_options(build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(HARDEN)
  target_compile_options(build_flags INTERFACE
    -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
    -fPIE)
  target_link_options(build_flags INTERFACE -pie -Wl,-z,relro,-z,now)
endif()
# Asserts are part of the product: they stay on in every build type.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO
       "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
