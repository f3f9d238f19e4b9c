#include "plugins/mail-smtp/session.hpp"

#include "svc/encoding.hpp"
#include "svc/socket_deadline.hpp"

#include <Poco/Environment.h>
#include <Poco/Net/MailStream.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Net/SocketStream.h>
#include <Poco/String.h>

#include <boost/algorithm/string/join.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <sstream>

namespace svc::mail_smtp {

namespace {

/// The words of an answer to EHLO: for "AUTH PLAIN LOGIN" both "AUTH PLAIN" and "AUTH LOGIN".
std::set<std::string> abilities_in(const std::string& text) {
    std::set<std::string> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(Poco::toUpper(line));
        std::string first, further;
        words >> first;
        out.insert(first);
        while (words >> further) out.insert(first + " " + further);
    }
    return out;
}

/// Three digits, then a space, a hyphen or nothing (RFC 5321, section 4.2).
bool is_reply_line(const std::string& line) {
    return line.size() >= 3 &&
           std::all_of(
               line.begin(), line.begin() + 3, [](char each) { return each >= '0' && each <= '9'; }
           ) &&
           (line.size() == 3 || line[3] == ' ' || line[3] == '-');
}

}  // namespace

Session::Session(
    const Poco::Net::StreamSocket& connected,
    const Settings& settings,
    Poco::Net::Context::Ptr context
)
    : settings_(settings),
      context_(std::move(context)),
      descriptor_(connected.impl()->sockfd()),
      socket_(connected) {}

void Session::begin() {
    if (settings_.security == Security::tls)
        socket_ = Poco::Net::SecureStreamSocket::attach(socket_, settings_.host, context_);
    require(read(), "the connection");
    greet();
    if (settings_.security == Security::starttls) {
        start_tls();
        greet();  // what was said in the clear counts for nothing
    }
    if (!settings_.username.empty()) log_in();
}

void Session::greet() {
    const std::string name =
        settings_.greeting.empty() ? Poco::Environment::nodeName() : settings_.greeting;
    const Reply reply = command("EHLO " + name);
    require(reply, "the greeting");
    abilities_ = abilities_in(reply.text);
}

void Session::start_tls() {
    if (!offers("STARTTLS"))
        throw std::runtime_error(
            settings_.host + " does not offer STARTTLS, so nothing is sent through it"
        );
    require(command("STARTTLS"), "STARTTLS");
    // Whatever came in the clear behind the answer is dropped with the old socket's buffer.
    socket_ = Poco::Net::SecureStreamSocket::attach(socket_, settings_.host, context_);
}

void Session::log_in() {
    if (offers("AUTH PLAIN")) {
        using namespace std::string_literals;
        const std::string pair = "\0"s + settings_.username + "\0"s + settings_.password;
        return require(command("AUTH PLAIN " + base64(pair, Base64::padded)), "the log-in");
    }
    if (!offers("AUTH LOGIN"))
        throw std::runtime_error(settings_.host + " offers no log-in that we know");
    constexpr int go_on = 334;
    for (const std::string& step :
         {std::string("AUTH LOGIN"), base64(settings_.username, Base64::padded)})
        if (const Reply reply = command(step); reply.status != go_on) require(reply, "the log-in");
    require(command(base64(settings_.password, Base64::padded)), "the log-in");
}

void Session::send(const mail::Message& message) {
    const std::string body = offers("8BITMIME") ? " BODY=8BITMIME" : "";
    const std::array<std::string, 3> commands{
        "MAIL FROM:<" + message.from.str() + ">" + body,
        "RCPT TO:<" + message.to.str() + ">",
        "DATA"
    };
    // All at once where the server says that it reads on (RFC 2920). When it refuses one, the
    // conversation ends without the mail, whatever it says to those behind.
    const bool at_once = offers("PIPELINING");
    if (at_once) socket_.sendMessage(boost::algorithm::join(commands, "\r\n"));
    const auto answer_to = [&](const std::string& each) {
        return at_once ? read() : command(each);
    };
    require(answer_to(commands[0]), "the sender");
    require_taken(answer_to(commands[1]));
    constexpr int go_on = 354;
    if (const Reply reply = answer_to(commands[2]); reply.status != go_on) {
        require_taken(reply);
        throw std::runtime_error(settings_.host + " does not wait for the mail: " + reply.text);
    }
    ++mails_;
    Poco::Net::SocketOutputStream to_server(socket_);
    Poco::Net::MailOutputStream lines(to_server);  // doubles the dots that begin lines
    lines << message.mime;
    lines.close();
    to_server.flush();
    if (!to_server) throw std::runtime_error(settings_.host + " broke the connection off");
    require_taken(read());
}

void Session::end() noexcept {
    try {
        const SocketDeadline deadline(
            descriptor_, std::chrono::steady_clock::now() + std::chrono::seconds(1)
        );
        command("QUIT");
    } catch (const std::exception&) {
        // The mail is on its way all the same.
    }
}

bool Session::is_quiet() const {
    char byte = 0;
    return ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

Session::Reply Session::command(const std::string& line) {
    socket_.sendMessage(line);
    return read();
}

Session::Reply Session::read() {
    constexpr std::size_t longest_line = 2048;
    constexpr int most_lines = 100;
    Reply reply;
    for (int i = 0; i < most_lines; ++i) {
        std::string line;
        if (!socket_.receiveLine(line, longest_line))
            throw std::runtime_error(settings_.host + " broke the connection off");
        if (!is_reply_line(line)) break;
        reply.status = std::stoi(line.substr(0, 3));
        reply.text += (reply.text.empty() ? "" : "\n") + (line.size() > 4 ? line.substr(4) : "");
        if (line.size() == 3 || line[3] == ' ') return reply;
    }
    throw std::runtime_error(settings_.host + " does not speak SMTP");
}

void Session::require(const Reply& reply, std::string_view what) const {
    if (reply.good()) return;
    throw std::runtime_error(
        settings_.host + " refuses " + std::string(what) + ": " + std::to_string(reply.status) +
        " " + reply.text
    );
}

void Session::require_taken(const Reply& reply) const {
    if (reply.status / 100 != 5) return require(reply, "the mail");
    throw mail::Undeliverable(std::to_string(reply.status) + " " + reply.text);
}

}  // namespace svc::mail_smtp
