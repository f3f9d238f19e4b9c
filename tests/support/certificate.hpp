#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>

namespace svc::http::test {

/// A self-signed certificate and its key, as files that go with the object.
class Certificate {
public:
    Certificate() {
        folder_ = std::filesystem::temp_directory_path() /
                  ("svc-tls-" + std::to_string(std::random_device{}()));
        std::filesystem::create_directories(folder_);
        const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> pair(
            EVP_EC_gen("P-256"), EVP_PKEY_free
        );
        const std::unique_ptr<X509, void (*)(X509*)> self(X509_new(), X509_free);
        X509_set_version(self.get(), 2);
        ASN1_INTEGER_set(X509_get_serialNumber(self.get()), 1);
        X509_gmtime_adj(X509_getm_notBefore(self.get()), -60);
        X509_gmtime_adj(X509_getm_notAfter(self.get()), 3600);
        X509_set_pubkey(self.get(), pair.get());
        X509_NAME* name = X509_get_subject_name(self.get());
        const auto* text = reinterpret_cast<const unsigned char*>("localhost");
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
        X509_set_issuer_name(self.get(), name);
        X509_sign(self.get(), pair.get(), EVP_sha256());
        write(certificate(), [&](FILE* to) { return PEM_write_X509(to, self.get()); });
        write(key(), [&](FILE* to) {
            return PEM_write_PrivateKey(to, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
        });
    }
    ~Certificate() { std::filesystem::remove_all(folder_); }
    Certificate(const Certificate&) = delete;
    Certificate& operator=(const Certificate&) = delete;

    std::filesystem::path certificate() const { return folder_ / "certificate.pem"; }
    std::filesystem::path key() const { return folder_ / "key.pem"; }

private:
    template <class Write>
    static void write(const std::filesystem::path& path, Write write_to) {
        const std::unique_ptr<FILE, int (*)(FILE*)> file(
            std::fopen(path.c_str(), "w"), std::fclose
        );
        if (!file || write_to(file.get()) != 1)
            throw std::runtime_error("cannot write " + path.string());
    }

    std::filesystem::path folder_;
};

}  // namespace svc::http::test
