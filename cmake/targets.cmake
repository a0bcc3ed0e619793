# koord_library(NAME [PURE] SOURCES a.c ... LINKS target ...)
#
# A PURE library computes: same input, same output. It may link only base, json,
# yaml, quantity, selector and api. The guard below makes the linker enforce it: an executable
# made of the whole archive and its declared links does not link when a source
# calls into curl, libevent or any folder that was not declared.
function(koord_library name)
    cmake_parse_arguments(arg "PURE" "" "SOURCES;LINKS" ${ARGN})
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC koord_options ${arg_LINKS})
    if(arg_PURE)
        set_property(GLOBAL APPEND PROPERTY KOORD_PURE ${name})
        koord_purity_guard(${name})
    endif()
endfunction()

function(koord_purity_guard name)
    get_target_property(links ${name} LINK_LIBRARIES)
    get_property(pure GLOBAL PROPERTY KOORD_PURE)
    foreach(link ${links})
        if(TARGET ${link} AND NOT link STREQUAL koord_options AND NOT link MATCHES "^PkgConfig::(yajl|libyaml)$"
           AND NOT link IN_LIST pure)
            message(FATAL_ERROR "${name} is pure and may not link ${link}")
        endif()
    endforeach()
    if(KOORD_TESTS)
        set(main ${CMAKE_BINARY_DIR}/purity_main.c)
        if(NOT EXISTS ${main})
            file(WRITE ${main} "int main(void)\n{\n    return 0;\n}\n")
        endif()
        add_executable(purity_${name} ${main})
        target_link_libraries(purity_${name} PRIVATE
            -Wl,--whole-archive $<TARGET_FILE:${name}> -Wl,--no-whole-archive ${name})
        set_target_properties(purity_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/purity)
    endif()
endfunction()

# koord_program(NAME SOURCES a.c ... LINKS target ...)
function(koord_program name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE koord_options ${arg_LINKS})
endfunction()

# koord_test(NAME SOURCES a.c ... LINKS target ... [ARGS ...])
# A cmocka program registered with ctest. Tests find their data through
# KOORD_TESTDATA, never through the working directory.
function(koord_test name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINKS;ARGS" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE koord_options ${arg_LINKS} PkgConfig::cmocka)
    target_compile_definitions(${name} PRIVATE KOORD_TESTDATA="${PROJECT_SOURCE_DIR}/test/testdata")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()

# koord_fuzz(NAME SOURCES a.c LINKS target ...)
# One LLVMFuzzerTestOneInput. Without libFuzzer it is linked with a driver that
# replays the corpus (test/fuzz/corpus/NAME), which ctest runs either way.
function(koord_fuzz name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
    add_executable(fuzz_${name} ${arg_SOURCES})
    target_link_libraries(fuzz_${name} PRIVATE koord_options ${arg_LINKS})
    if(KOORD_LIBFUZZER)
        target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/fuzz/replay.c)
    endif()
    set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    set(corpus ${PROJECT_SOURCE_DIR}/test/fuzz/corpus/${name})
    if(KOORD_LIBFUZZER)
        add_test(NAME fuzz_${name} COMMAND fuzz_${name} -runs=0 ${corpus})
    else()
        add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
    endif()
endfunction()
