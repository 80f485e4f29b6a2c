// SPDX-License-Identifier: Apache-2.0
// A table of hostile files: models, their data, inputs, artifacts and stages. Each is opened, compiled and run in a
// process of its own, and must be refused by one sentence.
#include "runtime/Devices.h"
#include "tests/hostile/HostileModels.h"
#include "tests/hostile/Isolated.h"

#include "backend/Pipeline.h"
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/execute/Context.h"
#include "runtime/execute/Program.h"
#include "tests/ScratchFolder.h"
#include "tools/tilewright/options/InputOptions.h"
#include "tools/tilewright/options/ModelOptions.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Does what `tilewright run` does with a model, artifact or stage and these --inputs.
Status openAndRun(const std::string &path, const std::vector<std::string> &inputs) {
  ModelOptions options;
  options.model = path;
  options.quiet = true;
  Expected<runtime::Artifact> artifact = loadOrCompile(options);
  TILEWRIGHT_TRY(artifact);
  auto device = runtime::openDevice("host");
  TILEWRIGHT_TRY(device);
  auto program = runtime::Program::create(*artifact, (*device)->info(), "all");
  TILEWRIGHT_TRY(program);
  InputOptions inputOptions;
  inputOptions.inputs = inputs;
  auto tensors = readInputs((*program)->plan(), inputOptions);
  TILEWRIGHT_TRY(tensors);
  auto context = runtime::Context::create(*program, *device);
  TILEWRIGHT_TRY(context);
  return (*context)->run(*tensors).status();
}

void write(const std::string &path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Each test states the least number of files that it tries; together more than 150.
struct HostileFilesTest : testing::Test {
  ScratchFolder scratch;
  std::string model = scratch / "model.onnx";
  size_t tried = 0;

  HostileFilesTest() { ::setenv("TILEWRIGHT_NUM_THREADS", "1", 1); }

  void expectRefused(const std::string &what, const std::string &path, const std::vector<std::string> &inputs = {}) {
    Ending ending = runIsolated([&] { return openAndRun(path, inputs); });
    EXPECT_EQ(objection(ending), "") << what;
    EXPECT_FALSE(ending.status.ok()) << what << " was accepted";
    ++tried;
  }
};

TEST_F(HostileFilesTest, Models) {
  for (const HostileModel &row : hostileModels()) {
    write(model, row.make().SerializePartialAsString());
    expectRefused(row.what, model);
  }
  EXPECT_GE(tried, 90u);
}

TEST_F(HostileFilesTest, BytesThatAreNoModel) {
  std::string good = reluModel().SerializeAsString();
  for (size_t length = 0; length < good.size(); length += 1 + good.size() / 12) {
    write(model, good.substr(0, length));
    expectRefused(fmt::format("the first {} of {} bytes", length, good.size()), model);
  }
  std::string nested = "\x08\x01"; // a graph in an attribute of a node of a graph ...
  for (int i = 0; i < 5000; ++i)
    nested = fmt::format("\x0a{}{}", static_cast<char>(nested.size() & 0x7f), nested.substr(0, 120));
  for (const std::string &bytes : {std::string("no model at all"), std::string(1000, '\xff'), std::string(100000, '\0'),
                                   std::string("\x3a\xff\xff\xff\xff\x7f", 6), nested}) {
    write(model, bytes);
    expectRefused("garbage", model);
  }
  expectRefused("a folder", scratch.folder().string());
  expectRefused("nothing", scratch / "absent.onnx");
  EXPECT_GE(tried, 15u);
}

/// A file of 14 bytes whose graph claims 500 MB, and a string in it 49 MB: protobuf reserves that much. Found by a
/// fuzzer.
TEST_F(HostileFilesTest, AClaimForWhichThereIsNoMemory) {
  write(model, std::string_view("\x3a\x80\xca\xb5\xee\x01\xa2\x06\xc0\xdf\xae\x17xx"));
  expectRefused("a string that is not there", model);
  Limits limits;
  limits.bytes = 20 << 20;
  Ending ending = runIsolated([&] { return openAndRun(model, {}); }, limits);
  EXPECT_EQ(objection(ending), "");
  EXPECT_EQ(ending.status.code(), Code::Malformed) << ending.status.message();
  EXPECT_NE(ending.status.message().find("model.onnx' asks for more memory than there is"), std::string::npos)
      << ending.status.message();
}

TEST_F(HostileFilesTest, ExternalData) {
  write(scratch / "weights", std::string(64, 'w'));
  std::filesystem::create_directory(scratch / "folder");
  std::filesystem::create_symlink("/etc/passwd", scratch / "link");
  struct Row {
    const char *location, *offset, *length;
  };
  constexpr Row rows[] = {{"/etc/passwd", "0", "8"},
                          {"../weights", "0", "8"},
                          {"a/../../weights", "0", "8"},
                          {"", "0", "8"},
                          {"absent", "0", "8"},
                          {"folder", "0", "8"},
                          {"link", "0", "8"},
                          {"weights", "-1", "8"},
                          {"weights", "60", "8"},
                          {"weights", "0", "9"},
                          {"weights", "0", "-8"},
                          {"weights", "x", "8"},
                          {"weights", "18446744073709551615", "8"},
                          {"weights", "0", "18446744073709551615"},
                          {"weights", "8", "7"}};
  for (const Row &row : rows) {
    write(model, externalDataModel(row.location, row.offset, row.length).SerializeAsString());
    expectRefused(fmt::format("external data '{}' from {}, {} bytes", row.location, row.offset, row.length), model);
  }
}

std::string npy(const std::string &header, const std::string &data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return bytes + header + data;
}

TEST_F(HostileFilesTest, Inputs) {
  write(model, reluModel().SerializeAsString()); // x: float32 [2, 3]
  const std::string right = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", data(24, '\0');
  const std::pair<const char *, std::string> arrays[] = {
      {"an empty file", ""},
      {"a magic number alone", "\x93NUMPY"},
      {"a header that ends early", npy(right, data).substr(0, 30)},
      {"a header without its keys", npy("{}\n", data)},
      {"Fortran order", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", data)},
      {"objects", npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }\n", data)},
      {"big-endian numbers", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", data)},
      {"a negative size", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }\n", data)},
      {"a size that overflows",
       npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 3), }\n", data)},
      {"a size of letters", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (two, 3), }\n", data)},
      {"too few bytes", npy(right, data.substr(1))},
      {"too many bytes", npy(right, data + "x")},
      {"another shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n", data)},
      {"another rank", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", data)},
      {"another type", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n", data)},
  };
  for (const auto &[what, bytes] : arrays) {
    write(scratch / "x.npy", bytes);
    expectRefused(fmt::format(".npy: {}", what), model, {"x=" + scratch / "x.npy"});
  }
  for (const char *bytes : {"", "PK", "PK\x05\x06 not an archive", "\x93NUMPY"}) {
    write(scratch / "x.npz", bytes);
    expectRefused("an .npz that is none", model, {scratch / "x.npz"});
  }
  std::filesystem::create_directories(scratch / "data/test_data_set_0");
  onnx::TensorProto tensor = floatTensor("x", {2, 3});
  const std::pair<const char *, std::string> protos[] = {
      {"garbage", std::string(100, '\xff')},
      {"another shape", floatTensor("x", {3, 2}).SerializeAsString()},
      {"a size that overflows", floatTensor("x", {int64_t(1) << 62, 4}, 6).SerializeAsString()},
      {"too few numbers", floatTensor("x", {2, 3}, 5).SerializeAsString()},
      {"half of it", tensor.SerializeAsString().substr(0, 20)},
  };
  for (const auto &[what, bytes] : protos) {
    write(scratch / "data/test_data_set_0/input_0.pb", bytes);
    expectRefused(fmt::format(".pb: {}", what), model, {scratch / "data"});
  }
  EXPECT_GE(tried, 24u);
}

TEST_F(HostileFilesTest, Artifacts) {
  write(model, reluModel().SerializeAsString());
  CompileOptions options;
  options.modelPath = model;
  auto compiled = compileModel(options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  std::string path = scratch / "model.tw";
  ASSERT_TRUE(runtime::writeArtifact(compiled->contents(), path).ok());
  std::ifstream file(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (size_t length = 8; length < good.size(); length += 1 + good.size() / 16) {
    write(path, good.substr(0, length));
    expectRefused(fmt::format("the first {} of {} bytes of an artifact", length, good.size()), path);
  }
  for (size_t at = 8; at < good.size(); at += 1 + good.size() / 32) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    write(path, bytes);
    expectRefused(fmt::format("an artifact with byte {} of {} changed", at, good.size()), path);
  }
  write(path, good + "x");
  expectRefused("an artifact with one byte more", path);
  EXPECT_GE(tried, 40u);
}

TEST_F(HostileFilesTest, Stages) {
  std::string path = scratch / "stage.mlir";
  for (const std::string &text :
       {std::string(""), std::string("module {}"), std::string("this is no IR"),
        std::string("module { func.func @main() }"),
        std::string("module { func.func @main(%a: ") + std::string(100000, '(') + ") { return } }",
        std::string(200000, '{'),
        std::string("module attributes {graph.stage = \"import\"} { func.func @main() { return } }"),
        std::string("module attributes {graph.stage = \"soup\"} { func.func @main() { return } }"),
        std::string("module attributes {graph.stage = 7} { func.func @main() { return } }"),
        std::string(
            "module attributes {graph.stage = \"tile\"} { func.func @main(%a: i32) -> i32 { return %a : i32 } }"),
        std::string("module attributes {graph.stage = \"group\"} { func.func @main() { graph.launch @absent() : () -> "
                    "() return } }"),
        std::string("\0\1\2\3", 4)}) {
    write(path, text);
    expectRefused("stage: " + text.substr(0, 100), path);
  }
}

} // namespace
