# The target tilewright_mlir: LLVM 22, MLIR and lld, shared for quick links or static for one binary that runs anywhere.

list(PREPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(ZLIB REQUIRED)
find_package(zstd REQUIRED)
find_package(MLIR 22.1 REQUIRED CONFIG) # "22" alone is refused by Debian's version file
find_package(LLD REQUIRED CONFIG)
find_package(fmt REQUIRED)

add_library(tilewright_mlir INTERFACE)
target_include_directories(tilewright_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${CMAKE_BINARY_DIR}/generated)
separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tilewright_mlir INTERFACE ${definitions})

if(TILEWRIGHT_STATIC)
  # Debian's exports refer to libLLVM.so in every MLIR archive. A static link that follows them succeeds, loads a second LLVM, and aborts at
  # start with "Option registered more than once": so every reference to the shared libraries is removed first.
  # All of MLIR's archives are listed, so that no list must be maintained: the linker takes only members that are referenced.
  find_library(ZLIB_STATIC libz.a REQUIRED)
  get_property(mlirTargets GLOBAL PROPERTY MLIR_ALL_LIBS)
  set(mlirLibraries)
  foreach(library ${mlirTargets} lldELF lldCommon)
    if(NOT TARGET ${library})
      continue()
    endif()
    get_target_property(needs ${library} INTERFACE_LINK_LIBRARIES)
    if(needs)
      list(FILTER needs EXCLUDE REGEX "^(LLVM|MLIR|.<LINK_ONLY:LLVM>)$")
      list(TRANSFORM needs REPLACE "zstd::libzstd_shared" "zstd::libzstd_static")
      list(TRANSFORM needs REPLACE "ZLIB::ZLIB" "${ZLIB_STATIC}")
      set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${needs}")
    endif()
    get_target_property(type ${library} TYPE)
    if(type STREQUAL STATIC_LIBRARY AND NOT library MATCHES "Test|CAPI|ExecutionEngine")
      list(APPEND mlirLibraries ${library})
    endif()
  endforeach()
  # Our code never reaches what LLVMSupport was built with (Z3, XML); LLVMExtensions would require Polly (link/NoPolly.cpp).
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "rt;dl;m;${ZLIB_STATIC};zstd::libzstd_static;LLVMDemangle")
  set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES "LLVMSupport")

  llvm_map_components_to_libnames(llvmLibraries core support passes native x86codegen x86asmparser nvptxcodegen amdgpucodegen
    amdgpuasmparser frontendopenmp lto dtlto bitwriter bitreader option windowsdriver debuginfodwarf)
  target_link_libraries(tilewright_mlir INTERFACE ${mlirLibraries} ${llvmLibraries})
  target_link_options(tilewright_mlir INTERFACE LINKER:--gc-sections LINKER:--icf=all LINKER:--strip-all -static-libstdc++ -static-libgcc)
else()
  target_link_libraries(tilewright_mlir INTERFACE lldELF lldCommon MLIR LLVM)
  # clang-22 considers this folder a system folder, so CMake would omit it from the run path.
  target_link_options(tilewright_mlir INTERFACE LINKER:-rpath,${LLVM_LIBRARY_DIR})
endif()

# MLIR's headers cost seconds in every file, so those that most files need are precompiled. All libraries and tests that use MLIR share this
# precompiled header (so a missing #include shows only with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON).
add_library(tilewright_pch OBJECT ${CMAKE_SOURCE_DIR}/scripts/cmake/Pch.cpp)
target_link_libraries(tilewright_pch PUBLIC tilewright_mlir fmt::fmt-header-only)
target_compile_options(tilewright_pch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
target_precompile_headers(tilewright_pch PRIVATE ${CMAKE_SOURCE_DIR}/scripts/cmake/Pch.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/cmake/Pch.h)
file(SHA256 ${CMAKE_SOURCE_DIR}/scripts/cmake/Pch.h pchSum)
file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/tilewright_pch.dir/cmake_pch.hxx.pch.sum "${pchSum} ${LLVM_PACKAGE_VERSION} ${CMAKE_CXX_COMPILER_VERSION}\n")
