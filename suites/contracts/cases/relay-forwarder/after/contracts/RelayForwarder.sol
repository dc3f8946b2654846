// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Forwards calls that users signed and relayers pay for. The contracts that are called find the user's address after the
/// arguments.
contract RelayForwarder {
    struct Request {
        address from;
        address to;
        uint256 value;
        uint256 gas;
        uint256 nonce;
        uint64 deadline;
        bytes data;
    }

    bytes32 private constant TYPE =
        keccak256("Request(address from,address to,uint256 value,uint256 gas,uint256 nonce,uint64 deadline,bytes data)");
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    mapping(address => uint256) public nonces;

    event Forwarded(address indexed from, address indexed to, uint256 nonce, bool ok);

    function domain() public view returns (bytes32) {
        bytes32 kind = keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(kind, keccak256("RelayForwarder"), block.chainid, address(this)));
    }

    function digestOf(Request calldata request) public view returns (bytes32) {
        bytes32 content = keccak256(
            abi.encode(
                TYPE,
                request.from,
                request.to,
                request.value,
                request.gas,
                request.nonce,
                request.deadline,
                keccak256(request.data)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain(), content));
    }

    /// Forwards a request. Ether that the call needs comes from the relayer.
    function forward(Request calldata request, uint8 v, bytes32 r, bytes32 s) external payable returns (bytes memory) {
        require(block.timestamp <= request.deadline, "too late");
        require(msg.value == request.value, "wrong value");
        require(request.nonce == nonces[request.from]++, "wrong nonce");
        require(uint256(s) <= HALF_ORDER, "bad signature");
        address signer = ecrecover(digestOf(request), v, r, s);
        require(signer != address(0) && signer == request.from, "not signed by the user");
        require((gasleft() * 63) / 64 > request.gas + 5000, "too little gas");
        bytes memory data = abi.encodePacked(request.data, request.from);
        (bool ok, bytes memory result) = request.to.call{value: request.value, gas: request.gas}(data);
        require(ok, "call failed");
        emit Forwarded(request.from, request.to, request.nonce, ok);
        return result;
    }
}
