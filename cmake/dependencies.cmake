# External libraries, as imported targets. Which folder may link which is decided
# in that folder's CMakeLists.txt and nowhere else.
find_package(PkgConfig REQUIRED)
pkg_check_modules(yajl REQUIRED IMPORTED_TARGET yajl)
pkg_check_modules(libyaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.80)
pkg_check_modules(libevent REQUIRED IMPORTED_TARGET libevent libevent_openssl)
pkg_check_modules(openssl REQUIRED IMPORTED_TARGET openssl>=3.0)
if(KOORD_TESTS)
    pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
endif()
