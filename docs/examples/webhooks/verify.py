import hashlib, hmac, time


def is_ours(secret: str, header: str, body: bytes) -> bool:
    parts = [part.partition("=") for part in header.split(",")]
    sent = next((value for name, _, value in parts if name == "t"), "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > 300:
        return False
    wanted = hmac.new(secret.encode(), sent.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value, wanted) for name, _, value in parts)
