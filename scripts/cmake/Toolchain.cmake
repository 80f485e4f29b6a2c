# Compiler flags for our own code, and ccache in front of the compiler where it is installed.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

# -fPIC explicitly, not by POSITION_INDEPENDENT_CODE: that would give executables -fPIE, and clang refuses a precompiled header made with
# the other flag. Function sections let the linker drop unused code of a static LLVM.
add_compile_options(-fPIC -ffunction-sections -fdata-sections -Wall -Wextra -Werror)
add_link_options(-fuse-ld=lld-22)
include_directories(${CMAKE_SOURCE_DIR})

# Not "function": it reads a signature in front of every callee, which compiled kernels do not have.
if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize=vptr,function -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
endif()

if(TILEWRIGHT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Precompiled headers contain time stamps and paths, which ccache must ignore so that a file compiled in one checkout is a hit in
# another. It identifies the header by a checksum that we write beside it (Llvm.cmake), since the header's own bytes contain the checkout's path.
find_program(CCACHE ccache)
if(CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
# CMake's default also includes the header by its absolute path, whose only effect is that checkouts differ.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
