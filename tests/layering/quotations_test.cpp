#include "quotations.hpp"

#include <gtest/gtest.h>

namespace {

const std::string kSource =
    "void before();\n"
    "// [wait]\n"
    "Answer wait() {\n"
    "    return call();\n"
    "\n"
    "}\n"
    "// [/wait]\n"
    "void after() {\n"
    "    // [inner]\n"
    "    one();\n"
    "        two();\n"
    "    // [/inner]\n"
    "    // [unclosed]\n"
    "}\n";

const std::string kBuild =
    "# [switch]\n"
    "add_executable(server)\n"
    "# [/switch]\n";

std::vector<std::string> stale_in(const std::string& markdown, int& found) {
    return stale_quotations({{"servers/x.cpp", kSource},
                             {"servers/CMakeLists.txt", kBuild},
                             {"docs/page.md", markdown}},
                            found);
}

std::string quote(const std::string& reference, const std::string& block) {
    return "Text.\n\n<!-- quote: " + reference + " -->\n" + block + "\nMore text.\n";
}

}  // namespace

TEST(Quotations, AreUpToDateInThisRepository) {
    const auto tree =
        read_source_tree(WAITBENCH_SOURCE_DIR, {".cpp", ".hpp", ".md", "CMakeLists.txt", ".lua"});
    int found = 0;
    for (const auto& sentence : stale_quotations(tree, found)) {
        ADD_FAILURE() << sentence;
    }
    for (const char* model : {"blocking", "stackless", "sync_over_async"}) {
        const auto page = tree.find("servers/README.md");
        ASSERT_NE(page, tree.end()) << "the four handlers stand side by side in servers/README.md";
        EXPECT_NE(page->second.find("<!-- quote: servers/" + std::string(model) + "/"),
                  std::string::npos)
            << "servers/README.md quotes no handler of " << model;
    }
}

TEST(Quotations, TrueOnesPass) {
    int found = 0;
    EXPECT_TRUE(stale_in(quote("servers/x.cpp#wait",
                               "```cpp\nAnswer wait() {\n    return call();\n\n}\n```") +
                             quote("servers/x.cpp#inner", "```cpp\none();\n    two();\n```"),
                         found)
                    .empty());
    EXPECT_EQ(found, 2);
    EXPECT_TRUE(stale_in(quote("servers/CMakeLists.txt#switch",
                               "```cmake\nadd_executable(server)\n```"),
                         found)
                    .empty());
    EXPECT_EQ(found, 1);
}

TEST(Quotations, FalseOnesFail) {
    const std::pair<const char*, const char*> cases[] = {
        {"servers/x.cpp#wait", "```cpp\nAnswer wait() {\n    return call(1);\n\n}\n```"},
        {"servers/x.cpp#wait", "```cpp\nAnswer wait() {\n    return call();\n\n```"},
        {"servers/x.cpp#inner", "```cpp\none();\ntwo();\n```"},
        {"servers/x.cpp#nothing", "```cpp\none();\n```"},
        {"servers/x.cpp#unclosed", "```cpp\n}\n```"},
        {"servers/y.cpp#wait", "```cpp\none();\n```"},
        {"servers/x.cpp#inner", "one();\n    two();"},
        {"servers/x.cpp#inner", "```cpp\none();\n    two();"},
        {"servers/x.cpp", "```cpp\none();\n    two();\n```"},
    };
    for (const auto& [reference, block] : cases) {
        int found = 0;
        EXPECT_EQ(stale_in(quote(reference, block), found).size(), 1u) << reference << "\n"
                                                                       << block;
    }
}
