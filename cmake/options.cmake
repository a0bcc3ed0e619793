# Compiler settings shared by every target. Presets (CMakePresets.json) switch them.
option(KOORD_TESTS "Build the tests, the in-tree API server and the fuzz targets" ON)
option(KOORD_WERROR "Treat warnings as errors" ON)
option(KOORD_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(KOORD_HARDEN "Build with hardening flags and link-time optimisation" OFF)
option(KOORD_COVERAGE "Build with coverage counters" OFF)
option(KOORD_LIBFUZZER "Link the fuzz targets with libFuzzer (needs clang)" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # _GNU_SOURCE interfaces, statement attributes, __int128
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_library(koord_options INTERFACE)
target_compile_definitions(koord_options INTERFACE _GNU_SOURCE KOORD_VERSION="${PROJECT_VERSION}")
target_compile_options(koord_options INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -fno-omit-frame-pointer)
target_include_directories(koord_options INTERFACE ${PROJECT_SOURCE_DIR}/pkg ${PROJECT_SOURCE_DIR})

if(KOORD_WERROR)
    target_compile_options(koord_options INTERFACE -Werror)
endif()
if(KOORD_SANITIZE)
    target_compile_options(koord_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_link_options(koord_options INTERFACE -fsanitize=address,undefined)
endif()
if(KOORD_HARDEN)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    target_compile_options(koord_options INTERFACE -fstack-protector-strong -D_FORTIFY_SOURCE=2)
    target_link_options(koord_options INTERFACE -pie -Wl,-z,relro,-z,now)
endif()
if(KOORD_COVERAGE)
    target_compile_options(koord_options INTERFACE --coverage)
    target_link_options(koord_options INTERFACE --coverage)
endif()
if(KOORD_LIBFUZZER)
    # Coverage of the libraries, too: without it the fuzzer is blind to what it tests.
    target_compile_options(koord_options INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(koord_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
