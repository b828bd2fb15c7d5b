// Asio, compiled once for the whole suite.
#include <boost/asio/impl/src.hpp>
