#include "bench/interrupt.hpp"

#include <csignal>
#include <initializer_list>

namespace bench {
namespace {

volatile std::sig_atomic_t flag = 0;

}  // namespace

void catch_interrupts() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        std::signal(signal, [](int) { flag = 1; });
    }
}

bool interrupted() {
    return flag != 0;
}

}  // namespace bench
