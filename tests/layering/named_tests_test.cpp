#include "named_tests.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace {

using Names = std::set<std::string>;

}  // namespace

// A table of faults is worth as much as the tests behind it.
TEST(NamedTests, OfThePageOnReliabilityExist) {
    const auto tree = read_source_tree(WAITBENCH_SOURCE_DIR, {".cpp", ".md"});
    const auto page = tree.find("docs/reliability.md");
    ASSERT_NE(page, tree.end());
    const Names defined = defined_tests(tree);
    const Names named = named_tests(page->second);
    EXPECT_GT(named.size(), 50u);
    for (const std::string& name : named) {
        EXPECT_TRUE(defined.contains(name)) << "no test is called " << name;
    }
    for (const std::string& path : named_paths(page->second)) {
        EXPECT_TRUE(std::filesystem::exists(WAITBENCH_SOURCE_DIR "/" + path)) << path;
    }
}

TEST(NamedTests, AreFoundInSourcesAndPages) {
    const SourceTree tree = {
        {"tests/a.cpp", "TEST(One, Holds) {\n}\nTEST_F(Two, IsTooLong) {\n  TEST(No, Test)\n"},
        {"common/b.cpp", "TEST(Not, Here) {\n"},
    };
    EXPECT_EQ(defined_tests(tree), (Names{"One.Holds", "Two.IsTooLong"}));
    EXPECT_EQ(named_tests("`One.Holds`, `x.y`, Two.Three, `Two.Other`"),
              (Names{"One.Holds", "Two.Other"}));
    EXPECT_EQ(named_paths("`tests/soak` and `docs/x`"), (Names{"tests/soak"}));
}
