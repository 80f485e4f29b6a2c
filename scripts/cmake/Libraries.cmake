# Functions for the folders' CMakeLists.txt: a library of all sources of a folder, TableGen, and the third-party libraries they link.

find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

# fmt is used from its headers: Debian has no static libfmt, and the release binary depends on nothing but glibc.
find_package(fmt REQUIRED)
find_library(XXHASH_STATIC libxxhash.a REQUIRED)
# malloc of the release's command line: MLIR makes many small objects, of which glibc's malloc scatters what belongs together
# (docs/performance.md, "malloc").
find_library(JEMALLOC_STATIC libjemalloc_pic.a REQUIRED)

# collectSources(out [EXCLUDE REGEX]): every source below this folder, but for those whose relative path matches REGEX.
function(collectSources out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCLUDE" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp *.h)
  if(arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${arg_EXCLUDE}")
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Lets a target use MLIR, with the shared precompiled header.
function(useMlir target)
  target_link_libraries(${target} PUBLIC tilewright_mlir)
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(${target} REUSE_FROM tilewright_pch)
endfunction()

# addMlirLibrary(NAME [EXCLUDE REGEX]): this folder's sources as one static library that uses MLIR. A folder without sources becomes
# an interface library, so that others can link it already.
function(addMlirLibrary name)
  collectSources(sources ${ARGN})
  if(NOT "${sources}" MATCHES "[.]cpp")
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  useMlir(${name})
  target_link_libraries(${name} PUBLIC fmt::fmt-header-only)
endfunction()

# linkLibrary(NAME LIBRARY...): target_link_libraries with the keyword that fits the kind of NAME.
function(linkLibrary name)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    target_link_libraries(${name} INTERFACE ${ARGN})
  else()
    target_link_libraries(${name} PUBLIC ${ARGN})
  endif()
endfunction()

# generate(LIBRARY TD OUTPUT ARGUMENT...): one run of mlir-tblgen; OUTPUT is relative to the build tree's generated/ folder, which
# mirrors the source tree, so that "frontend/graph/GraphOps.h.inc" is how it is included.
function(generate library td output)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${td})
  set(file ${CMAKE_BINARY_DIR}/generated/${output})
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  list(TRANSFORM MLIR_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
  add_custom_command(OUTPUT ${file}
    COMMAND mlir-tblgen ${ARGN} -I${CMAKE_SOURCE_DIR} ${includes} ${source} -o ${file} -d ${file}.d
    DEPENDS ${source} DEPFILE ${file}.d COMMENT "TableGen ${output}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY generated_${library} ${file})
endfunction()

# addDialect(LIBRARY FOLDER NAME Prefix): FOLDER/<Prefix>Ops.td (which includes everything else of the dialect) becomes
# <Prefix>{Ops,Dialect,Attrs,Types,Enums}.{h,cpp}.inc; FOLDER/<Prefix>Interfaces.td, where there is one, its own pair of op interfaces.
function(addDialect library folder name prefix)
  set(td ${folder}/${prefix}Ops.td)
  file(GLOB definitions CONFIGURE_DEPENDS ${folder}/*.td)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${td})
    return()
  endif()
  file(RELATIVE_PATH here ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  set(rows # suffix of the file, mlir-tblgen's verb, its filter
    "Ops|op|" "Dialect|dialect|-dialect=${name}" "Attrs|attrdef|-attrdefs-dialect=${name}"
    "Types|typedef|-typedefs-dialect=${name}" "Enums|enum|")
  foreach(row ${rows})
    string(REGEX MATCH "^(.*)[|](.*)[|](.*)$" row "${row}")
    generate(${library} ${td} ${here}/${prefix}${CMAKE_MATCH_1}.h.inc -gen-${CMAKE_MATCH_2}-decls ${CMAKE_MATCH_3})
    generate(${library} ${td} ${here}/${prefix}${CMAKE_MATCH_1}.cpp.inc -gen-${CMAKE_MATCH_2}-defs ${CMAKE_MATCH_3})
  endforeach()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${prefix}Interfaces.td)
    generate(${library} ${folder}/${prefix}Interfaces.td ${here}/${prefix}Interfaces.h.inc -gen-op-interface-decls)
    generate(${library} ${folder}/${prefix}Interfaces.td ${here}/${prefix}Interfaces.cpp.inc -gen-op-interface-defs)
  endif()
endfunction()

# addPasses(LIBRARY FOLDER Name): FOLDER/Passes.td becomes FOLDER/Passes.h.inc, with register<Name>Passes(). FOLDER is relative to
# this one; "." is itself.
function(addPasses library folder name)
  cmake_path(SET td NORMALIZE ${folder}/Passes.td)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE here)
  cmake_path(REPLACE_EXTENSION td h.inc OUTPUT_VARIABLE header)
  generate(${library} ${td} ${here}/${header} -gen-pass-decls -name=${name})
endfunction()

# finishGenerated(LIBRARY): nothing that links LIBRARY compiles before its generated headers are there.
function(finishGenerated library)
  get_property(files GLOBAL PROPERTY generated_${library})
  if(files)
    add_custom_target(${library}_generated DEPENDS ${files})
    add_dependencies(${library} ${library}_generated)
  endif()
endfunction()

# finishExecutable(TARGET): settings for every executable that uses MLIR.
function(finishExecutable target)
  if(TILEWRIGHT_STATIC)
    target_link_libraries(${target} PRIVATE tilewright_link)
  endif()
endfunction()
