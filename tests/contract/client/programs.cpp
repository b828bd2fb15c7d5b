#include "client/programs.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace client {
namespace {

Programs the_programs;
std::unique_ptr<Stub> the_stub;
std::unique_ptr<Server> the_server;

/// Stops the shared programs where gtest still counts failures.
class StopShared : public testing::Environment {
  public:
    void TearDown() override {
        the_server.reset();
        the_stub.reset();
    }
};

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

Flags command_line(const std::string& path, const Flags& flags) {
    Flags command{path};
    if (std::find(flags.begin(), flags.end(), "--port") == flags.end()) {
        command.insert(command.end(), {"--port", "0"});
    }
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
}

Flags with_downstream(Port downstream, const Flags& flags) {
    Flags all = programs().server_flags;
    all.insert(all.end(), {"--downstream", "127.0.0.1:" + std::to_string(downstream)});
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
}

Port announced_port(Process& process, const std::string& path) {
    const std::string expected = file_name(path) + " listening on 127.0.0.1:";
    const auto line = process.first_line();
    if (!line || !line->starts_with(expected)) {
        throw std::runtime_error(
            path + " did not say where it listens; standard output: " + process.standard_output() +
            "; standard error: " + process.standard_error());
    }
    return static_cast<Port>(std::stoi(line->substr(expected.size())));
}

}  // namespace

const Programs& programs() {
    return the_programs;
}

std::string Programs::model() const {
    const std::string prefix = "server_";
    return file_name(server).substr(prefix.size());
}

int run_all_tests(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    for (const std::string& argument : std::vector<std::string>(argv + 1, argv + argc)) {
        if (argument.starts_with("--server=")) {
            the_programs.server = argument.substr(argument.find('=') + 1);
        } else if (argument.starts_with("--server-flags=")) {
            std::istringstream words(argument.substr(argument.find('=') + 1));
            for (std::string word; std::getline(words, word, ',');) {
                the_programs.server_flags.push_back(word);
            }
        } else if (argument.starts_with("--stub=")) {
            the_programs.stub = argument.substr(argument.find('=') + 1);
        } else {
            std::cerr << "usage: " << argv[0]
                      << " --server=PATH [--server-flags=FLAG,VALUE] --stub=PATH [--gtest_…]\n";
            return 2;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    testing::AddGlobalTestEnvironment(new StopShared);
    return RUN_ALL_TESTS();
}

Listening::Listening(const std::string& path, const Flags& flags)
    : process_(command_line(path, flags)), port_(announced_port(process_, path)) {}

Listening::~Listening() {
    if (!ended_) {
        stop();
    }
}

void Listening::stop(int expected_status) {
    process_.signal(SIGTERM);
    expect_exit(expected_status);
}

void Listening::expect_exit(int expected_status) {
    ended_ = true;
    const auto status = process_.wait();
    if (status != expected_status) {
        ADD_FAILURE() << "exit status "
                      << (status ? std::to_string(*status) : "missing: it does not stop")
                      << ", expected " << expected_status << "\nstandard error:\n"
                      << process_.standard_error();
    }
}

Stub::Stub(const Flags& flags) : Listening(programs().stub, flags) {}

Server::Server(Port downstream, const Flags& flags)
    : Listening(programs().server, with_downstream(downstream, flags)) {}

Port shared_stub() {
    if (!the_stub) {
        the_stub = std::make_unique<Stub>();
    }
    return the_stub->port();
}

Port shared_server() {
    if (!the_server) {
        the_server = std::make_unique<Server>(shared_stub());
    }
    return the_server->port();
}

}  // namespace client
