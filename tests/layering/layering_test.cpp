#include "layering.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <regex>
#include <set>

namespace {

std::string joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const auto& line : lines) {
        all += line + "\n";
    }
    return all;
}

/// Every command that ninja would need for this target from nothing.
std::string commands_for(const std::string& target) {
    const std::string command =
        std::string(WAITBENCH_NINJA) + " -C " + WAITBENCH_BINARY_DIR + " -t commands " + target;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string output;
    char piece[4096];
    while (pipe && std::fgets(piece, sizeof piece, pipe.get()) != nullptr) {
        output += piece;
    }
    return output;
}

/// The object files that compiling this source for this target gives.
std::set<std::string> objects_of(const std::string& commands, const std::string& source) {
    std::set<std::string> objects;
    const std::regex compile(" -o (\\S+) -c \\S*" + source);
    for (std::sregex_iterator match(commands.begin(), commands.end(), compile), end; match != end;
         ++match) {
        objects.insert((*match)[1]);
    }
    return objects;
}

bool links(const std::string& commands, const std::string& object) {
    const auto lines = lines_of(commands);
    return !lines.empty() && lines.back().find(object) != std::string_view::npos;
}

}  // namespace

TEST(Layering, HoldsInThisRepository) {
    const auto tree = read_source_tree(WAITBENCH_SOURCE_DIR, {".cpp", ".hpp"});
    ASSERT_TRUE(tree.contains("common/limits.hpp"));
    const auto broken = broken_rules(tree);
    EXPECT_TRUE(broken.empty()) << joined(broken);
}

TEST(Layering, FindsPlantedViolations) {
    const SourceTree allowed = {
        {"common/app/call.hpp", "#include <string>\n"},
        {"common/net/control.hpp", "#include <boost/asio.hpp>\n#include \"common/app/call.hpp\"\n"},
        {"servers/blocking/waiting.hpp", "template <class T>\n"},
        {"servers/stackful/main.cpp",
         "#include \"blocking/waiting.hpp\"\n#include \"common/net/control.hpp\"\n"},
        {"servers/stackless/main.cpp", "#include \"session.hpp\"\n"},
        {"servers/stackless/session.hpp", "#include \"common/app/call.hpp\"\n"},
        {"servers/sync_over_async/injection_policy.hpp", ""},
        {"servers/sync_over_async/growing_pool.hpp", ""},
        {"bench/main.cpp", "#include \"common/app/call.hpp\"\n"},
        {"bench/predict/simulation.hpp", "#include \"sync_over_async/injection_policy.hpp\"\n"},
        {"tests/unit/x.cpp", "#include \"servers/stackful/main.cpp\"\n#define X\n"},
    };
    EXPECT_EQ(joined(broken_rules(allowed)), "");

    const std::pair<const char*, const char*> planted[] = {
        {"common/net/x.cpp", "#include \"servers/stackless/session.hpp\"\n"},
        {"common/net/y.cpp", "#include \"stackless/session.hpp\"\n"},
        {"common/app/x.cpp", "#include <boost/asio/buffer.hpp>\n"},
        {"common/app/y.cpp", "#include \"common/net/control.hpp\"\n"},
        {"common/app/z.cpp", "#include <sys/socket.h>\n"},
        {"servers/stackless/x.cpp", "#include \"stackful/main.cpp\"\n"},
        {"servers/stackless/y.cpp", "#include \"../stackful/main.cpp\"\n"},
        {"servers/stackless/z.cpp", "#include \"blocking/waiting.hpp\"\n"},
        {"servers/stackless/m.cpp", "  #  define TRICK 1\n"},
        {"servers/stackless/t.cpp",
         "template <class A>\ntemplate <class B>\ntemplate<>template<>\n"},
        {"bench/x.cpp", "#include \"servers/stackful/main.cpp\"\n"},
        {"bench/z.cpp", "#include \"sync_over_async/growing_pool.hpp\"\n"},
        {"servers/stackless/i.cpp", "#include \"sync_over_async/injection_policy.hpp\"\n"},
        {"bench/y.cpp", "#include \"blocking/waiting.hpp\"\n"},
        {"servers/stackful/x.cpp", "#include \"bench/main.cpp\"\n"},
        {"downstream_stub/x.cpp", "#include \"servers/stackless/session.hpp\"\n"},
    };
    for (const auto& [path, text] : planted) {
        SourceTree tree = allowed;
        tree[path] = text;
        EXPECT_EQ(broken_rules(tree).size(), 1u) << path << "\n" << joined(broken_rules(tree));
    }
    SourceTree tree = allowed;
    tree["common/wide.cpp"] = std::string(100, 'x') + "\n" + std::string(101, 'x') + "\n";
    EXPECT_EQ(joined(broken_rules(tree)), "common/wide.cpp:2 is longer than 100 columns\n");
}

// The switch from threads to fibers must be one line of CMake and not a second compilation.
TEST(SameObject, TwoServersLinkTheSameHandlers) {
    const auto on_threads = commands_for("server_thread_pool");
    const auto on_fibers = commands_for("server_stackful");
    for (const char* source :
         {"servers/blocking/handlers.cpp", "servers/blocking/downstream.cpp"}) {
        const auto objects = objects_of(on_threads, source);
        ASSERT_EQ(objects.size(), 1u) << source << "\n" << on_threads;
        EXPECT_EQ(objects, objects_of(on_fibers, source));
        EXPECT_TRUE(links(on_threads, *objects.begin()));
        EXPECT_TRUE(links(on_fibers, *objects.begin()));
    }
    EXPECT_NE(on_threads.find("waiting_on_threads.cpp"), std::string::npos);
    EXPECT_EQ(on_threads.find("waiting_on_fibers.cpp"), std::string::npos);
    EXPECT_NE(on_fibers.find("waiting_on_fibers.cpp"), std::string::npos);
    EXPECT_EQ(on_fibers.find("waiting_on_threads.cpp"), std::string::npos);
}
