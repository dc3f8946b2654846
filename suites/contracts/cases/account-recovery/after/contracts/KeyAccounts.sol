// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Ether accounts for people who lose keys. An account has a key, and may have a guardian who can replace it with a
/// signature.
contract KeyAccounts {
    struct Account {
        address key;
        address guardian;
        uint256 balance;
        uint256 changes;
    }

    Account[] public accounts;

    event Opened(uint256 indexed id, address indexed key);
    event KeyReplaced(uint256 indexed id, address indexed key);
    event Sent(uint256 indexed id, address indexed to, uint256 amount);

    modifier onlyKey(uint256 id) {
        require(msg.sender == accounts[id].key, "wrong key");
        _;
    }

    function open() external payable returns (uint256 id) {
        id = accounts.length;
        accounts.push(Account(msg.sender, address(0), msg.value, 0));
        emit Opened(id, msg.sender);
    }

    function deposit(uint256 id) external payable {
        accounts[id].balance += msg.value;
    }

    /// Names a guardian, or none.
    function setGuardian(uint256 id, address guardian) external onlyKey(id) {
        accounts[id].guardian = guardian;
    }

    function send(uint256 id, address to, uint256 amount) external onlyKey(id) {
        accounts[id].balance -= amount;
        emit Sent(id, to, amount);
        (bool ok, ) = payable(to).call{value: amount}("");
        require(ok, "payment refused");
    }

    function requestOf(uint256 id, address key) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), id, key, accounts[id].changes));
    }

    /// Gives an account a new key, at the request of its guardian.
    function replaceKey(uint256 id, address key, uint8 v, bytes32 r, bytes32 s) external {
        require(key != address(0), "key missing");
        Account storage account = accounts[id];
        address signer = ecrecover(requestOf(id, key), v, r, s);
        require(signer == account.guardian, "not signed by the guardian");
        account.changes += 1;
        account.key = key;
        emit KeyReplaced(id, key);
    }
}
