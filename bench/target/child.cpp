#include "bench/target/child.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <boost/asio/io_context.hpp>
// With std::filesystem Boost 1.81's Process forgets to include what it uses.
#include <boost/optional.hpp>
#include <boost/type_traits.hpp>

#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/interrupt.hpp"
#include "bench/limits.hpp"

namespace bench::target {
namespace {

namespace process = boost::process::v2;
using Clock = std::chrono::steady_clock;

/// Runs in the child before the program does. The parent may have died before the first line.
struct ChildSetup {
    cpu_set_t cpus;  ///< Made before the fork, after which nothing may be allocated.
    pid_t parent = getpid();

    boost::system::error_code on_exec_setup(process::posix::default_launcher&,
                                            const process::filesystem::path&,
                                            const char* const*) const {
        // A session of its own. Ctrl-C reaches the runner alone, and the kernel's automatic task
        // groups give server, stub and load generator equal shares of the CPUs, as machines of
        // their own would: among 200 threads of a server in its own group the stub would read and
        // answer late, and the pool would fall into step with it.
        setsid();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
            _exit(1);
        }
        return {};
    }
};

cpu_set_t set_of(const Cpus& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) {
        CPU_SET(cpu, &set);
    }
    if (cpus.empty()) {
        sched_getaffinity(0, sizeof set, &set);
    }
    return set;
}

/// The processes' executor. Nothing runs on it, because the runner only polls.
boost::asio::io_context& context() {
    static boost::asio::io_context one;
    return one;
}

std::string contents(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::filesystem::path with_suffix(std::filesystem::path file, const char* suffix) {
    return file += suffix;
}

}  // namespace

struct Child::State {
    process::process process;
    std::filesystem::path file;
    bool reaped = false;
    int status = 0;
};

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

Child::~Child() {
    if (state_ && !state_->reaped) {
        stop();
    }
}

Result<Child> Child::start(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments,
                           const std::filesystem::path& file, const Cpus& cpus) {
    if (access(program.c_str(), X_OK) != 0) {
        return Result<Child>::failed(program.filename().string() + " is not there");
    }
    // Boost.Process opens without truncating, so what an earlier run left would seem to be of this.
    for (const char* suffix : {".out", ".err"}) {
        std::error_code ignored;
        std::filesystem::remove(with_suffix(file, suffix), ignored);
    }
    try {
        process::process started(
            context().get_executor(), program, arguments,
            process::process_stdio{nullptr, with_suffix(file, ".out"), with_suffix(file, ".err")},
            ChildSetup{set_of(cpus)});
        return Child(std::make_unique<State>(State{std::move(started), file}));
    } catch (const boost::system::system_error& error) {
        return Result<Child>::failed("cannot start " + program.string() + ": " + error.what());
    }
}

pid_t Child::pid() const {
    return state_->process.id();
}
std::string Child::output() const {
    return contents(with_suffix(state_->file, ".out"));
}
std::string Child::errors() const {
    return contents(with_suffix(state_->file, ".err"));
}

bool Child::has_ended() const {
    siginfo_t info{};
    return state_->reaped ||
           (waitid(P_PID, pid(), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0);
}

int Child::exit_status() {
    if (!state_->reaped) {
        kill(-pid(), SIGKILL);  // what the program itself has started and left behind
        boost::system::error_code error;
        state_->process.wait(error);
        state_->reaped = true;
        const int status = state_->process.native_exit_code();
        state_->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return state_->status;
}

int Child::stop() {
    for (const int signal : {SIGTERM, SIGTERM, SIGKILL}) {
        if (has_ended()) {
            break;
        }
        kill(-pid(), signal);
        const auto until = Clock::now() + limits::kStop;
        while (!has_ended() && Clock::now() < until) {
            std::this_thread::sleep_for(limits::kLook);
        }
    }
    return exit_status();
}

std::filesystem::path find_program(const std::string& name) {
    // Boost 1.81's own search does not compile with std::filesystem.
    std::istringstream path(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
    for (std::string folder; std::getline(path, folder, ':');) {
        if (access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) {
            return std::filesystem::path(folder) / name;
        }
    }
    return {};
}

int parse_listening_line(const std::string& output) {
    static const std::string words = " listening on ";
    const std::size_t found = output.find(words);
    const std::size_t end = output.find('\n', found);
    if (found == std::string::npos || end == std::string::npos) {
        return 0;  // The line may still be on its way.
    }
    const std::size_t colon = output.rfind(':', end);
    return colon > found ? std::atoi(output.c_str() + colon + 1) : 0;
}

Result<int> wait_for_port(Child& child) {
    const auto until = Clock::now() + limits::kStart;
    while (Clock::now() < until && !interrupted()) {
        if (const int port = parse_listening_line(child.output()); port != 0) {
            return port;
        }
        if (child.has_ended()) {
            const int status = child.exit_status();
            return Result<int>::failed("it ended with status " + std::to_string(status) + ": " +
                                       child.errors());
        }
        std::this_thread::sleep_for(limits::kLook);
    }
    return Result<int>::failed("it printed no listening line");
}

}  // namespace bench::target
