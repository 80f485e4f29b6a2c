// SPDX-License-Identifier: Apache-2.0
// Files are written completely or not at all; devices and pipes are written directly.
#include "runtime/artifact/OutputFile.h"

#include "tests/ScratchFolder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace tilewright;
namespace fs = std::filesystem;

namespace {

std::string contentOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

size_t filesIn(const fs::path &folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(OutputFileTest, ReplacesOnCommitOnly) {
  test::ScratchFolder scratch;
  std::string path = scratch / "file";
  ASSERT_TRUE(writeFile(path, "old").ok());
  {
    Expected<OutputFile> file = OutputFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("new and longer").ok());
    EXPECT_EQ(contentOf(path), "old");
  }
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(filesIn(scratch.folder()), 1u);
  ASSERT_TRUE(writeFile(path, "new").ok());
  EXPECT_EQ(contentOf(path), "new");
  EXPECT_EQ(filesIn(scratch.folder()), 1u);
}

TEST(OutputFileTest, WritesThroughDevicesAndKeepsLinks) {
  test::ScratchFolder scratch;
  EXPECT_TRUE(writeFile("/dev/null", "nothing").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(writeFile("/dev/full", "nothing").code(), Code::Io);
  fs::create_symlink("target", scratch / "link");
  ASSERT_TRUE(writeFile(scratch / "link", "text").ok());
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(contentOf(scratch / "target"), "text");
}

TEST(OutputFileTest, SaysWhatCannotBeWritten) {
  test::ScratchFolder scratch;
  Status folder = writeFile(scratch.folder(), "text"), absent = writeFile(scratch / "absent/file", "text");
  EXPECT_EQ(folder.code(), Code::Io);
  EXPECT_NE(folder.message().find("Is a directory"), std::string::npos) << folder.message();
  EXPECT_EQ(absent.code(), Code::Io);
  EXPECT_NE(absent.message().find("No such file or directory"), std::string::npos) << absent.message();
}

} // namespace
